#include "worker/flow/frame_split.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "common/flow/key_hashes.h"
#include "common/flow/record_rows.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/owned_rows.h"

namespace weir {
namespace {

void AddFrames(RecordBatch batch, int rank, int64_t max_bytes, std::vector<FramePart>* parts) {
  const int64_t records = batch.size();
  if (records == 0) return;
  const int64_t bytes = batch.bytes();
  if (bytes <= max_bytes || records == 1) {
    parts->push_back({rank, std::move(batch)});
    return;
  }
  const int64_t most = std::max<int64_t>(1, max_bytes / std::max<int64_t>(1, bytes / records));
  for (int64_t begin = 0; begin < records; begin += most) {
    parts->push_back({rank, SliceRows(batch, begin, std::min(records, begin + most))});
  }
}

// With few workers a place in memory that says where the next row goes was written a moment ago,
// and each row would wait for the one before; so rows are looked for, worker by worker.
constexpr int kFewWorkers = 8;

// The worker of each row. `hashes_of(begin, out)` gives the hashes of rows from `begin` on.
template <class HashesOf>
std::vector<uint16_t> OwnersOf(int64_t records, int workers, HashesOf hashes_of) {
  std::vector<uint16_t> owners(static_cast<size_t>(records));
  std::array<uint64_t, 256> hashes;
  for (size_t begin = 0; begin < owners.size(); begin += hashes.size()) {
    const size_t count = std::min(hashes.size(), owners.size() - begin);
    hashes_of(static_cast<int64_t>(begin), absl::MakeSpan(hashes.data(), count));
    for (size_t i = 0; i < count; ++i) {
      owners[begin + i] = static_cast<uint16_t>(WorkerOfGroup(KeyGroupOf(hashes[i]), workers));
    }
  }
  return owners;
}

// The rows of each worker, in their order.
class RowsOfWorkers {
 public:
  RowsOfWorkers(absl::Span<const uint16_t> owners, int workers)
      : rows_(owners.size()), begins_(static_cast<size_t>(workers) + 1, 0) {
    for (const uint16_t owner : owners) ++begins_[owner + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
    for (size_t row = 0; row < owners.size(); ++row) {
      rows_[next[owners[row]]++] = static_cast<uint32_t>(row);
    }
  }

  absl::Span<const uint32_t> of(int worker) const {
    const size_t begin = begins_[worker];
    return absl::MakeConstSpan(rows_).subspan(begin, begins_[worker + 1] - begin);
  }

 private:
  std::vector<uint32_t> rows_;  // those of a worker behind those of the one before
  std::vector<size_t> begins_;  // by worker
};

// The batch with each of its tensors as `taken` makes it.
template <class Taken>
RecordBatch EachTensor(const RecordBatch& batch, Taken taken) {
  RecordBatch part;
  for (const Tensor& column : batch.columns) part.columns.push_back(taken(column));
  part.origins = taken(batch.origins);
  if (batch.weights) part.weights = taken(*batch.weights);
  return part;
}

RecordBatch RowsOfOwner(const RecordBatch& batch, absl::Span<const uint16_t> owners, int worker,
                        size_t count) {
  const auto owner = static_cast<uint16_t>(worker);
  std::vector<uint32_t> rows;  // once a column needs them
  return EachTensor(batch, [&](const Tensor& column) {
    if (column.rank() == 1 && SizeOf(column.dtype()) == sizeof(uint64_t)) {
      Tensor words(column.dtype(), {static_cast<int64_t>(count)});
      auto* const out = reinterpret_cast<uint64_t*>(words.raw_mutable_data());
      TakeOwned(owners, owner, column.raw_data(), absl::MakeSpan(out, count));
      return words;
    }
    if (rows.empty()) {
      rows.resize(count);
      ListOwned(owners, owner, absl::MakeSpan(rows));
    }
    return GatherRows(ColumnRows::Of(column), absl::MakeConstSpan(rows));
  });
}

// Adds so many rows of the batch for a worker: none, the batch itself if they are all, or those
// that `taken` gives.
template <class Taken>
void AddRows(const RecordBatch& batch, int worker, size_t count, int64_t max_bytes,
             std::vector<FramePart>* parts, Taken taken) {
  if (count == 0) return;
  const bool are_all = static_cast<int64_t>(count) == batch.size();
  AddFrames(are_all ? batch : taken(), worker, max_bytes, parts);
}

template <class HashesOf>
void AddByHash(const RecordBatch& batch, int workers, int64_t max_bytes, HashesOf hashes_of,
               std::vector<FramePart>* parts) {
  if (workers == 1 || batch.empty()) return AddFrames(batch, 0, max_bytes, parts);
  const std::vector<uint16_t> owners = OwnersOf(batch.size(), workers, hashes_of);
  if (workers > kFewWorkers) {
    const RowsOfWorkers rows(owners, workers);
    for (int worker = 0; worker < workers; ++worker) {
      const absl::Span<const uint32_t> of_worker = rows.of(worker);
      AddRows(batch, worker, of_worker.size(), max_bytes, parts, [&] {
        return EachTensor(batch, [&](const Tensor& column) {
          return GatherRows(ColumnRows::Of(column), of_worker);
        });
      });
    }
    return;
  }
  for (int worker = 0; worker < workers; ++worker) {
    const size_t count = CountOwned(owners, static_cast<uint16_t>(worker));
    AddRows(batch, worker, count, max_bytes, parts,
            [&] { return RowsOfOwner(batch, owners, worker, count); });
  }
}

}  // namespace

std::vector<FramePart> SplitFrame(const RecordBatch& batch, const Routing& routing, int rank,
                                  int workers, int64_t max_bytes) {
  std::vector<FramePart> parts;
  switch (routing.to) {
    case Routing::To::kSelf:
      AddFrames(batch, rank, max_bytes, &parts);
      break;
    case Routing::To::kRoot:
      AddFrames(batch, 0, max_bytes, &parts);
      break;
    case Routing::To::kAll:
      for (int r = 0; r < workers; ++r) AddFrames(batch, r, max_bytes, &parts);
      break;
    case Routing::To::kKey: {
      const auto hashes_of = [&](int64_t begin, absl::Span<uint64_t> out) {
        HashKeys(batch, routing.keys, begin, out);
      };
      AddByHash(batch, workers, max_bytes, hashes_of, &parts);
      break;
    }
    case Routing::To::kOrigin: {
      const auto hashes_of = [&](int64_t begin, absl::Span<uint64_t> out) {
        for (uint64_t& hash : out) hash = HashOfOrigin(batch.origin(begin++));
      };
      AddByHash(batch, workers, max_bytes, hashes_of, &parts);
      break;
    }
  }
  return parts;
}

}  // namespace weir
