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

std::vector<std::vector<int64_t>> RowsByWorker(const RecordBatch& batch, int keys, int workers) {
  std::vector<std::vector<int64_t>> rows(workers);
  const RecordRows reader(batch, keys);
  for (int64_t row = 0; row < batch.size(); ++row) {
    rows[WorkerOfGroup(KeyGroupOf(reader.Hash(row)), workers)].push_back(row);
  }
  return rows;
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
      if (workers == 1) {
        AddFrames(batch, 0, max_bytes, &parts);
        break;
      }
      const std::vector<std::vector<int64_t>> rows = RowsByWorker(batch, routing.keys, workers);
      for (int r = 0; r < workers; ++r) {
        AddFrames(SelectRows(batch, rows[r]), r, max_bytes, &parts);
      }
      break;
    }
  }
  return parts;
}

}  // namespace weir
