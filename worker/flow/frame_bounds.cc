#include "worker/flow/frame_bounds.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

int64_t RecordsWithin(int64_t record_bytes) {
  return std::clamp<int64_t>(kMaxFrameBytes / record_bytes, 1, kMaxFrameRecords);
}

}  // namespace

int64_t BytesOf(const RecordType& type) {
  int64_t bytes = 2 * sizeof(int64_t);
  for (const TensorType& column : type) {
    bytes += NumElements(column.shape.extents()) * SizeOf(column.dtype);
  }
  return bytes;
}

int64_t RecordsPerFrame(const RecordType& type) { return RecordsWithin(BytesOf(type)); }

void SendRecords(int output, const Timestamp& time, RecordBatch batch,
                 VertexActivation* activation) {
  const int64_t size = batch.size();
  if (size == 0) return;
  const int64_t most = RecordsWithin(batch.bytes() / size);
  if (size <= most) return activation->Send(output, time, std::move(batch));
  for (int64_t begin = 0; begin < size; begin += most) {
    activation->Send(output, time, SliceRows(batch, begin, std::min(begin + most, size)));
  }
}

}  // namespace weir
