// From absl::Status to what gRPC sends. Stateless; usable from any thread.
#ifndef WEIR_SERVER_API_GRPC_STATUS_H_
#define WEIR_SERVER_API_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace weir {

// Cuts long messages: status and message travel as metadata, and what is over 8 KiB there replaces
// the real status by RESOURCE_EXHAUSTED.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace weir

#endif  // WEIR_SERVER_API_GRPC_STATUS_H_
