// How a worker cuts its range of iterations into chunks: by what fits the cache first, then by the
// memory budget. Results do not depend on it. Stateless but for ChunkingMemo, which is thread-safe.
#ifndef WEIR_WORKER_DATAFLOW_CHUNKING_H_
#define WEIR_WORKER_DATAFLOW_CHUNKING_H_

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/executor/executable.h"

namespace weir {

struct Chunking {
  int64_t chunk = 0;    // iterations that run together
  int64_t threads = 1;  // that have a chunk at the same time
  // Known only if the step has a budget or is to be explained.
  int64_t bytes_per_iteration = 0;
  int64_t predicted_bytes = 0;  // of all arenas together
  // Bytes that the arenas of one thread may take; 0: any.
  int64_t thread_budget = 0;
};

enum class ChunkingDetail { kWhatIsNeeded, kPredictions };

// Kernels handle rows in blocks of so many, or of a part.
inline constexpr int64_t kChunkBlock = 48;
inline constexpr int64_t kSmallChunkBlock = 8;

struct ChunkingRequest {
  const Executable* executable = nullptr;
  std::string_view function;  // for messages
  const SymbolBindings* symbols = nullptr;
  std::string_view local;  // symbol of the number of iterations; empty: the step is not split
  int64_t iterations = 0;
  int threads = 1;
  // A thread's share is a multiple of this: few where few iterations take long.
  int64_t block = kChunkBlock;
  int64_t budget = 0;  // bytes of all arenas together; 0: any
  ChunkingDetail detail = ChunkingDetail::kWhatIsNeeded;
};

// Returns: RESOURCE_EXHAUSTED, with what is needed, if one iteration exceeds the budget.
absl::StatusOr<Chunking> ChooseChunking(const ChunkingRequest& request);

// The last choices for a step, as looking at arenas takes longer than a small run.
class ChunkingMemo {
 public:
  absl::StatusOr<Chunking> Choose(const ChunkingRequest& request);

 private:
  // Runs on one worker and on several, of batches of some sizes.
  static constexpr size_t kMost = 8;

  struct Choice {
    ChunkingRequest request;  // but for its symbols
    SymbolBindings symbols;
    Chunking chunking;

    bool Fits(const ChunkingRequest& other) const;
  };

  std::mutex mutex_;
  std::vector<Choice> choices_;
  size_t oldest_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_CHUNKING_H_
