// LinkFrames (proto/weir/v1/link.proto) as the byte buffers that gRPC sends and receives: neither
// direction copies payload, which a generated message would do twice. Inside of grpc_link; pure
// functions.
#ifndef WEIR_COMMON_NET_LINK_FRAME_H_
#define WEIR_COMMON_NET_LINK_FRAME_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/frame.h"

namespace weir {

// Returns: the encoded message. It shares ownership of the memory behind `payload`.
grpc::ByteBuffer EncodeLinkFrame(const std::string& header, std::vector<Slice> payload,
                                 uint64_t received);

// Gives the bytes of the fields `header` and `payload` to `take`, in the order in which they lie in
// the message and where they lie; passes over fields that it does not know. Returns: the field
// `received`, the first error of `take`, or DATA_LOSS for bytes that are no LinkFrame.
absl::StatusOr<uint64_t> DecodeLinkFrame(
    grpc::ByteBuffer* message, absl::FunctionRef<absl::Status(std::string_view bytes)> take);

}  // namespace weir

#endif  // WEIR_COMMON_NET_LINK_FRAME_H_
