// How much a vertex sends at once: what it makes at a complete time goes out in frames of bounded
// size, one for each call, so that others have their turn and queues can be counted in bytes.
// Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_FRAME_BOUNDS_H_
#define WEIR_WORKER_FLOW_FRAME_BOUNDS_H_

#include <cstdint>

#include "common/flow/record_batch.h"
#include "worker/flow/vertex.h"

namespace weir {

inline constexpr int64_t kMaxFrameRecords = 64 * 1024;
inline constexpr int64_t kMaxFrameBytes = 4 << 20;

// Bytes of one record with its origin and weight.
int64_t BytesOf(const RecordType& type);
// How many records make a full frame: within both bounds, but 1 at least.
int64_t RecordsPerFrame(const RecordType& type);

// Sends the records, if there are any, in as many frames as it takes.
void SendRecords(int output, const Timestamp& time, RecordBatch batch,
                 VertexActivation* activation);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FRAME_BOUNDS_H_
