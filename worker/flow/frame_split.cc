#include "worker/flow/frame_split.h"

#include <algorithm>
#include <utility>

#include "common/flow/record_rows.h"

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

// `hash_of` gives the hash of a row.
template <class HashOf>
void AddByHash(const RecordBatch& batch, int workers, int64_t max_bytes, HashOf hash_of,
               std::vector<FramePart>* parts) {
  if (workers == 1) return AddFrames(batch, 0, max_bytes, parts);
  std::vector<std::vector<int64_t>> rows(workers);
  for (int64_t row = 0; row < batch.size(); ++row) {
    rows[WorkerOfGroup(KeyGroupOf(hash_of(row)), workers)].push_back(row);
  }
  for (int r = 0; r < workers; ++r) AddFrames(SelectRows(batch, rows[r]), r, max_bytes, parts);
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
      const RecordRows keys(batch, routing.keys);
      const auto hash_of = [&](int64_t row) { return keys.Hash(row); };
      AddByHash(batch, workers, max_bytes, hash_of, &parts);
      break;
    }
    case Routing::To::kOrigin: {
      const auto hash_of = [&](int64_t row) { return HashOfOrigin(batch.origin(row)); };
      AddByHash(batch, workers, max_bytes, hash_of, &parts);
      break;
    }
  }
  return parts;
}

}  // namespace weir
