// gRPC statuses as absl ones, with what to do about a failed connection. Stateless.
#ifndef WEIR_CLIENT_API_GRPC_STATUS_H_
#define WEIR_CLIENT_API_GRPC_STATUS_H_

#include <string>

#include "absl/status/status.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace weir {

// Names the address and adds a hint where the text of gRPC alone helps nobody (connection refused,
// TLS on one side, unknown host).
absl::Status FromGrpc(const grpc::Status& status, const std::string& address);
// Returns: INVALID_ARGUMENT for what is not HOST:PORT.
absl::Status CheckAddress(const std::string& address);

}  // namespace weir

#endif  // WEIR_CLIENT_API_GRPC_STATUS_H_
