// The readers of a flow's streams, and the frames that records of an output become on the way to
// them. Made by a FlowJob, shared with its calls, which cut what they send where they run;
// immutable, usable from any thread.
#ifndef WEIR_WORKER_FLOW_FRAME_ROUTES_H_
#define WEIR_WORKER_FLOW_FRAME_ROUTES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "common/flow/flow.h"
#include "common/flow/record_batch.h"
#include "common/flow/vertex_kind.h"
#include "common/timely/timestamp.h"
#include "worker/flow/frame_split.h"

namespace weir {

// A frame on its way to the copy of a reader.
struct OutgoingFrame {
  Port to;
  Timestamp time;
  FramePart part;
};

class FrameRoutes {
 public:
  // Frames have about `max_bytes` at most.
  FrameRoutes(const Flow& flow, int rank, int workers, int64_t max_bytes);

  // Adds the frames that these records become, for all readers of the output.
  void Cut(FlowPort from, const Timestamp& time, const RecordBatch& batch,
           std::vector<OutgoingFrame>* frames) const;

 private:
  struct Reader {
    Port input;
    Routing routing;
  };
  const int rank_;
  const int workers_;
  const int64_t max_bytes_;
  std::vector<std::vector<std::vector<Reader>>> readers_;  // by vertex and output
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FRAME_ROUTES_H_
