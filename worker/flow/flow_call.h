// One call of a vertex: what goes in, and what came of it; or frames that wait for the vertex, on
// their way to disk. Made and read by a FlowJob on the event loop, run in between by whoever has a
// thread.
#ifndef WEIR_WORKER_FLOW_FLOW_CALL_H_
#define WEIR_WORKER_FLOW_FLOW_CALL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/flow/flow.h"
#include "common/flow/record_batch.h"
#include "common/timely/pointstamp.h"
#include "worker/flow/frame_routes.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/vertex.h"

namespace weir {

struct FlowCall {
  enum class Kind { kFrames, kNotify, kTurn, kSpill };
  // A frame that the call takes.
  struct Frame {
    int from_rank = 0;
    int64_t bytes = 0;
  };
  // Records of a queue.
  struct Queued {
    uint64_t number = 0;  // of the frame in its queue
    RecordBatch batch;    // if they are in memory
    std::optional<SpilledRecords> on_disk;
  };

  FlowCall(VertexId id, std::shared_ptr<Vertex> target, Kind kind, int input, Timestamp time)
      : id(id), target(std::move(target)), kind(kind), input(input), activation(std::move(time)) {}

  uint64_t job = 0;
  uint64_t generation = 0;
  std::shared_ptr<const Flow> flow;   // to which the vertex refers, whatever becomes of the job
  std::shared_ptr<FlowShare> memory;  // of the flow
  std::shared_ptr<const FrameRoutes> routes;
  const VertexId id;
  const std::shared_ptr<Vertex> target;
  const Kind kind;
  const int input;             // of a notification: where it was asked for
  RecordBatch batch;           // of all frames together
  std::vector<Queued> queued;  // those frames, if some are on disk; of kSpill, what goes there
  std::vector<Frame> frames;   // none for others than kFrames
  int64_t records = 0;         // of all frames together
  VertexActivation activation;
  std::vector<OutgoingFrame> outgoing;  // what the activation sent, on its way to readers

  absl::Status status;
  int64_t run_ns = 0;
};

// Runs the vertex on this thread, notes how long it took, and cuts what it sends into frames.
// Without a vertex, as outputs are the job's, the batch is there afterwards.
void RunFlowCall(FlowCall* call);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_CALL_H_
