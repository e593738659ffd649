// Calls of the service of flows that do not end at once (calls.h).
#ifndef WEIR_SERVER_API_FLOW_CALLS_H_
#define WEIR_SERVER_API_FLOW_CALLS_H_

#include "server/api/calls.h"
#include "weir/v1/flows.pb.h"

namespace weir {

class FlowBatchers;

grpc::ServerUnaryReactor* BeginDeploy(const ServiceContext& context,
                                      grpc::CallbackServerContext* call,
                                      const v1::DeployRequest* request,
                                      v1::DeployResponse* response);
grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* BeginAttach(
    const ServiceContext& context, grpc::CallbackServerContext* call);
grpc::ServerUnaryReactor* BeginCallFlow(const ServiceContext& context, FlowBatchers* batchers,
                                        const v1::CallFlowRequest* request,
                                        v1::CallFlowResponse* response);
grpc::ServerBidiReactor<v1::CallManyRequest, v1::CallManyResponse>* BeginCallMany(
    const ServiceContext& context, FlowBatchers* batchers);

}  // namespace weir

#endif  // WEIR_SERVER_API_FLOW_CALLS_H_
