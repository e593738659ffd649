// A client's connection to a flow of a coordinator in the same process: nothing is written as
// bytes. Thread-safe as FlowStream says.
#ifndef WEIR_CLIENT_EMBEDDED_EMBEDDED_FLOWS_H_
#define WEIR_CLIENT_EMBEDDED_EMBEDDED_FLOWS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/api/flow_stream.h"
#include "server/flows/flow_gateway.h"

namespace weir {

// REQUIRES: the coordinator outlives the stream. Errors: as FlowCore::Attach.
absl::StatusOr<std::unique_ptr<FlowStream>> AttachHere(const FlowGateway& gateway,
                                                       const v1::FlowAttach& request);

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_EMBEDDED_FLOWS_H_
