#include "worker/dataflow/chunking.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

// Half of a second-level cache: what a chunk touches besides its arena (operands, weights) takes
// the rest.
constexpr int64_t kCacheBytes = int64_t{1} << 20;
constexpr int64_t kBlock = kChunkBlock;

SymbolBindings SymbolsFor(const ChunkingRequest& request, int64_t iterations) {
  SymbolBindings symbols = *request.symbols;
  symbols.insert_or_assign(std::string(request.local), iterations);
  return symbols;
}

absl::StatusOr<int64_t> DemandOf(const ChunkingRequest& request, int64_t iterations) {
  return request.executable->ArenaDemand(SymbolsFor(request, iterations));
}

// What fits the cache, at most an even share of the threads.
absl::StatusOr<int64_t> ChunkByCache(const ChunkingRequest& request) {
  const Executable& executable = *request.executable;
  WEIR_ASSIGN_OR_RETURN(const int64_t one, executable.ArenaBytes(SymbolsFor(request, kBlock)));
  WEIR_ASSIGN_OR_RETURN(const int64_t two, executable.ArenaBytes(SymbolsFor(request, 2 * kBlock)));
  const int64_t bytes = std::max<int64_t>(1, (two - one) / kBlock);
  const int64_t fits = std::max(kBlock, kCacheBytes / bytes / kBlock * kBlock);
  const int64_t share = (request.iterations + request.threads - 1) / request.threads;
  const int64_t rounded = (share + request.block - 1) / request.block * request.block;
  return std::min({fits, rounded, request.iterations});
}

int64_t ThreadsFor(const ChunkingRequest& request, int64_t chunk) {
  return std::min<int64_t>(request.threads, (request.iterations + chunk - 1) / chunk);
}

absl::Status TooMuch(const ChunkingRequest& request, std::string_view what, int64_t bytes,
                     std::string_view instead) {
  return absl::ResourceExhaustedError(StrCat("step ", request.function, " needs ", bytes,
                                             " bytes of memory for ", what,
                                             ", but the memory budget is ", request.budget,
                                             " bytes: give a memory budget of at "
                                             "least ",
                                             bytes, " bytes, or ", instead));
}

// The largest number of iterations below `chunk` whose arenas take at most `bytes`. REQUIRES: those
// of one do, those of `chunk` do not.
absl::StatusOr<int64_t> LargestWithin(const ChunkingRequest& request, int64_t chunk,
                                      int64_t bytes) {
  int64_t fits = 1;
  int64_t exceeds = chunk;
  while (exceeds - fits > 1) {
    const int64_t middle = fits + (exceeds - fits) / 2;
    WEIR_ASSIGN_OR_RETURN(const int64_t demand, DemandOf(request, middle));
    (demand <= bytes ? fits : exceeds) = middle;
  }
  return fits < kBlock ? fits : fits / kBlock * kBlock;
}

absl::Status KeepWithinBudget(const ChunkingRequest& request, Chunking* chunking) {
  WEIR_ASSIGN_OR_RETURN(const int64_t wanted, DemandOf(request, chunking->chunk));
  chunking->thread_budget = request.budget / chunking->threads;
  if (wanted <= chunking->thread_budget) return absl::OkStatus();
  WEIR_ASSIGN_OR_RETURN(const int64_t one, DemandOf(request, 1));
  if (one > request.budget) {
    return TooMuch(request, "one iteration", one, "make what one iteration computes smaller");
  }
  chunking->threads = std::min<int64_t>(
      {request.threads, request.budget / std::max<int64_t>(1, one), request.iterations});
  chunking->thread_budget = request.budget / chunking->threads;
  if (wanted > chunking->thread_budget) {
    WEIR_ASSIGN_OR_RETURN(chunking->chunk,
                          LargestWithin(request, chunking->chunk, chunking->thread_budget));
  }
  chunking->threads = std::min(chunking->threads, ThreadsFor(request, chunking->chunk));
  return absl::OkStatus();
}

absl::Status Predict(const ChunkingRequest& request, Chunking* chunking) {
  WEIR_ASSIGN_OR_RETURN(const int64_t bytes, DemandOf(request, chunking->chunk));
  // Over enough iterations that the alignment of buffers does not show.
  constexpr int64_t kMore = 10 * kBlock;
  WEIR_ASSIGN_OR_RETURN(const int64_t more, DemandOf(request, chunking->chunk + kMore));
  chunking->bytes_per_iteration = std::max<int64_t>(0, (more - bytes) / kMore);
  chunking->predicted_bytes = bytes * chunking->threads;
  return absl::OkStatus();
}

absl::StatusOr<Chunking> NotSplit(const ChunkingRequest& request) {
  Chunking chunking;
  const bool explains = request.detail == ChunkingDetail::kPredictions;
  if (request.budget == 0 && !explains) return chunking;
  WEIR_ASSIGN_OR_RETURN(chunking.predicted_bytes,
                        request.executable->ArenaDemand(*request.symbols));
  chunking.thread_budget = request.budget;
  if (request.budget == 0 || chunking.predicted_bytes <= request.budget) return chunking;
  return TooMuch(request, "all of its values at once", chunking.predicted_bytes,
                 "move what it computes into a pfor, which runs a part of its iterations at a "
                 "time");
}

}  // namespace

absl::StatusOr<Chunking> ChooseChunking(const ChunkingRequest& request) {
  if (request.local.empty()) return NotSplit(request);
  Chunking chunking;
  WEIR_ASSIGN_OR_RETURN(chunking.chunk, ChunkByCache(request));
  chunking.threads = ThreadsFor(request, chunking.chunk);
  if (request.budget > 0) WEIR_RETURN_IF_ERROR(KeepWithinBudget(request, &chunking));
  if (request.detail == ChunkingDetail::kPredictions) {
    WEIR_RETURN_IF_ERROR(Predict(request, &chunking));
  }
  return chunking;
}

bool ChunkingMemo::Choice::Fits(const ChunkingRequest& other) const {
  return request.iterations == other.iterations && request.threads == other.threads &&
         request.block == other.block && request.budget == other.budget &&
         request.detail == other.detail && symbols == *other.symbols;
}

absl::StatusOr<Chunking> ChunkingMemo::Choose(const ChunkingRequest& request) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Choice& choice : choices_) {
      if (choice.Fits(request)) return choice.chunking;
    }
  }
  WEIR_ASSIGN_OR_RETURN(const Chunking chosen, ChooseChunking(request));
  Choice choice{request, *request.symbols, chosen};
  choice.request.symbols = nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (choices_.size() < kMost) {
    choices_.push_back(std::move(choice));
  } else {
    choices_[oldest_] = std::move(choice);
    oldest_ = (oldest_ + 1) % kMost;
  }
  return chosen;
}

}  // namespace weir
