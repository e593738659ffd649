#include "server/api/flows_service.h"

#include "common/base/status.h"
#include "server/api/flow_calls.h"
#include "server/flows/flow_gateway.h"

namespace weir {

grpc::ServerUnaryReactor* FlowsService::Deploy(grpc::CallbackServerContext* call,
                                               const v1::DeployRequest* request,
                                               v1::DeployResponse* response) {
  return BeginDeploy(context_, call, request, response);
}

grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* FlowsService::Attach(
    grpc::CallbackServerContext* call) {
  return BeginAttach(context_, call);
}

grpc::ServerUnaryReactor* FlowsService::Call(grpc::CallbackServerContext* call,
                                             const v1::CallFlowRequest* request,
                                             v1::CallFlowResponse* response) {
  return BeginCallFlow(context_, &batchers_, request, response);
}

grpc::ServerBidiReactor<v1::CallManyRequest, v1::CallManyResponse>* FlowsService::CallMany(
    grpc::CallbackServerContext*) {
  return BeginCallMany(context_, &batchers_);
}

grpc::ServerUnaryReactor* FlowsService::Get(grpc::CallbackServerContext* call,
                                            const v1::JobRequest* request,
                                            v1::FlowStatus* response) {
  const CallTimer timer(context_.metrics, "Flows.Get");
  return Answer(call, timer, FlowGateway(context_.coordinator).Get(request->id()), response);
}

grpc::ServerUnaryReactor* FlowsService::List(grpc::CallbackServerContext* call,
                                             const v1::ListFlowsRequest* request,
                                             v1::ListFlowsResponse* response) {
  const CallTimer timer(context_.metrics, "Flows.List");
  return Answer(call, timer,
                absl::StatusOr<v1::ListFlowsResponse>(FlowGateway(context_.coordinator).List()),
                response);
}

grpc::ServerUnaryReactor* FlowsService::Cancel(grpc::CallbackServerContext* call,
                                               const v1::JobRequest* request, v1::Job* response) {
  const CallTimer timer(context_.metrics, "Flows.Cancel");
  const absl::Status is_flow = FlowGateway(context_.coordinator).Get(request->id()).status();
  if (!is_flow.ok()) return Answer(call, timer, absl::StatusOr<v1::Job>(is_flow), response);
  return Answer(call, timer, context_.coordinator->Cancel(request->id()), response);
}

grpc::ServerUnaryReactor* FlowsService::Explain(grpc::CallbackServerContext* call,
                                                const v1::ExplainFrontierRequest* request,
                                                v1::ExplainFrontierResponse* response) {
  const CallTimer timer(context_.metrics, "Flows.Explain");
  return Answer(call, timer, batchers_.Explain(*request), response);
}

}  // namespace weir
