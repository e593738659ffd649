#include "worker/flow/frame_split.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "common/flow/key_hashes.h"
#include "common/flow/record_rows.h"
#include "worker/flow/gather_rows.h"

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

// The rows of a batch that go to each worker, in their order.
class RowsOfWorkers {
 public:
  // `hashes_of(begin, out)` gives the hashes of rows from `begin` on.
  template <class HashesOf>
  RowsOfWorkers(int64_t records, int workers, HashesOf hashes_of)
      : rows_(static_cast<size_t>(records) + 1) {
    std::array<uint16_t, kKeyGroups> owner_of;
    for (int group = 0; group < kKeyGroups; ++group) {
      owner_of[group] = static_cast<uint16_t>(WorkerOfGroup(group, workers));
    }
    std::vector<uint16_t> owners(static_cast<size_t>(records));
    std::array<uint64_t, 256> hashes;
    for (size_t begin = 0; begin < owners.size(); begin += hashes.size()) {
      const size_t count = std::min(hashes.size(), owners.size() - begin);
      hashes_of(static_cast<int64_t>(begin), absl::MakeSpan(hashes.data(), count));
      for (size_t i = 0; i < count; ++i) owners[begin + i] = owner_of[KeyGroupOf(hashes[i])];
    }
    begins_.push_back(0);
    if (workers <= kFewWorkers) {
      ListOneByOne(owners, workers);
    } else {
      ListTogether(owners, workers);
    }
  }

  absl::Span<const uint32_t> of(int worker) const {
    const size_t begin = begins_[worker];
    return absl::MakeConstSpan(rows_).subspan(begin, begins_[worker + 1] - begin);
  }

 private:
  // With few workers a place in memory that says where the next row goes was written a moment ago,
  // and each row would wait for the one before.
  static constexpr int kFewWorkers = 8;

  // A pass for each worker, without branches.
  void ListOneByOne(const std::vector<uint16_t>& owners, int workers) {
    size_t end = 0;
    uint32_t* const rows = rows_.data();  // one place more than there are rows
    for (int worker = 0; worker < workers; ++worker) {
      for (size_t row = 0; row < owners.size(); ++row) {
        rows[end] = static_cast<uint32_t>(row);
        end += owners[row] == worker ? 1 : 0;
      }
      begins_.push_back(end);
    }
  }

  void ListTogether(const std::vector<uint16_t>& owners, int workers) {
    begins_.resize(static_cast<size_t>(workers) + 1, 0);
    for (const uint16_t owner : owners) ++begins_[owner + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
    for (size_t row = 0; row < owners.size(); ++row) {
      rows_[next[owners[row]]++] = static_cast<uint32_t>(row);
    }
  }

  std::vector<uint32_t> rows_;  // those of a worker behind those of the one before
  std::vector<size_t> begins_;  // by worker
};

RecordBatch Rows(const RecordBatch& batch, absl::Span<const uint32_t> rows) {
  const auto taken = [&](const Tensor& column) { return GatherRows(ColumnRows::Of(column), rows); };
  RecordBatch part;
  for (const Tensor& column : batch.columns) part.columns.push_back(taken(column));
  part.origins = taken(batch.origins);
  if (batch.weights) part.weights = taken(*batch.weights);
  return part;
}

template <class HashesOf>
void AddByHash(const RecordBatch& batch, int workers, int64_t max_bytes, HashesOf hashes_of,
               std::vector<FramePart>* parts) {
  if (workers == 1 || batch.empty()) return AddFrames(batch, 0, max_bytes, parts);
  const RowsOfWorkers rows(batch.size(), workers, hashes_of);
  for (int worker = 0; worker < workers; ++worker) {
    const absl::Span<const uint32_t> of_worker = rows.of(worker);
    if (of_worker.empty()) continue;
    const bool is_all = static_cast<int64_t>(of_worker.size()) == batch.size();
    AddFrames(is_all ? batch : Rows(batch, of_worker), worker, max_bytes, parts);
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
