// A batch cut into the frames that go to the copies of its reader. Stateless; usable from any
// thread.
#ifndef WEIR_WORKER_FLOW_FRAME_SPLIT_H_
#define WEIR_WORKER_FLOW_FRAME_SPLIT_H_

#include <cstdint>
#include <vector>

#include "common/flow/record_batch.h"
#include "common/flow/vertex_kind.h"

namespace weir {

struct FramePart {
  int rank = 0;  // of the worker that it goes to
  RecordBatch batch;
};

// Where the records go, in frames of at most about `max_bytes` (one record at least). Frames have
// records in the order of the batch; a worker without records gets no frame.
std::vector<FramePart> SplitFrame(const RecordBatch& batch, const Routing& routing, int rank,
                                  int workers, int64_t max_bytes);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FRAME_SPLIT_H_
