// A client's connection to a flow: messages of Flows.Attach with their tensors, over gRPC or inside
// of one process. Owned by a DeployedFlow.
#ifndef WEIR_CLIENT_API_FLOW_STREAM_H_
#define WEIR_CLIENT_API_FLOW_STREAM_H_

#include "absl/status/statusor.h"
#include "common/flow/attach_stream.h"

namespace weir {

class FlowStream {
 public:
  // Detaches. REQUIRES: no call is under way.
  virtual ~FlowStream() = default;

  // From one thread at a time. May block for a moment. Errors: the stream is over; Next tells why.
  virtual absl::Status Send(const ToFlow& message) = 0;
  // From one thread at a time. Blocks until there is a message. Errors: why the stream is over;
  // UNAVAILABLE if the connection is, so that it is worth to attach again.
  virtual absl::StatusOr<FromFlow> Next() = 0;
  // From any thread: calls under way return, and later ones fail with CANCELLED.
  virtual void Close() = 0;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_FLOW_STREAM_H_
