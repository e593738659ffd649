// A FlowCaller over gRPC: one stream of Flows.CallMany.
#ifndef WEIR_CLIENT_API_REMOTE_CALLER_H_
#define WEIR_CLIENT_API_REMOTE_CALLER_H_

#include <memory>
#include <string>

#include "client/api/flow_caller.h"
#include "weir/v1/flows.grpc.pb.h"

namespace weir {

// `request` has no record. REQUIRES: the caller is not destroyed on a thread of gRPC.
std::unique_ptr<FlowCaller> MakeRemoteCaller(std::string address,
                                             std::shared_ptr<v1::Flows::Stub> stub,
                                             const v1::CallFlowRequest& request);

}  // namespace weir

#endif  // WEIR_CLIENT_API_REMOTE_CALLER_H_
