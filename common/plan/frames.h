// Messages with tensors as frames: the header of a frame is the encoded message, each tensor is one
// payload slice straight from its memory. Stateless; usable from any thread.
#ifndef WEIR_COMMON_PLAN_FRAMES_H_
#define WEIR_COMMON_PLAN_FRAMES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "common/net/frame.h"
#include "common/tensor/tensor.h"
#include "weir/v1/worker.pb.h"

namespace weir {

v1::TensorHeader HeaderOf(const Tensor& tensor);
// Returns: the number of bytes that a tensor of this header has, or an error for an unknown dtype
// or senseless extents.
absl::StatusOr<int64_t> BytesOf(const v1::TensorHeader& header);
// Wraps row-major bytes as a tensor that keeps the slice's memory. Returns: an error if the size
// does not fit the header.
absl::StatusOr<Tensor> TensorOf(const v1::TensorHeader& header, const Slice& slice);

Frame EncodeFrame(const google::protobuf::MessageLite& message,
                  const std::vector<Tensor>& payloads);

// A received message and its tensors. Returns: INVALID_ARGUMENT for bytes that are no such message,
// or whose payloads do not fit the headers in it.
struct FromWorker {
  v1::WorkerMessage message;
  std::vector<Tensor> payloads;
};
absl::StatusOr<FromWorker> DecodeFromWorker(const Frame& frame);

struct FromCoordinator {
  v1::CoordinatorMessage message;
  std::vector<Tensor> payloads;
};
absl::StatusOr<FromCoordinator> DecodeFromCoordinator(const Frame& frame);

struct FromPeer {
  v1::PeerMessage message;
  std::vector<Tensor> payloads;
};
absl::StatusOr<FromPeer> DecodeFromPeer(const Frame& frame);

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_FRAMES_H_
