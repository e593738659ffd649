// A FlowCaller of a cluster in this process.
#ifndef WEIR_CLIENT_EMBEDDED_EMBEDDED_CALLER_H_
#define WEIR_CLIENT_EMBEDDED_EMBEDDED_CALLER_H_

#include <memory>

#include "client/api/flow_caller.h"
#include "server/flows/flow_batchers.h"

namespace weir {

// REQUIRES: the batchers outlive the caller.
std::unique_ptr<FlowCaller> MakeEmbeddedCaller(FlowBatchers* batchers, v1::CallFlowRequest request);

}  // namespace weir

#endif  // WEIR_CLIENT_EMBEDDED_EMBEDDED_CALLER_H_
