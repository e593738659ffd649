// The gRPC service of flows. Thread-safe. REQUIRES: outlives the server that it is registered with,
// and the context outlives it.
#ifndef WEIR_SERVER_API_FLOWS_SERVICE_H_
#define WEIR_SERVER_API_FLOWS_SERVICE_H_

#include <utility>

#include "server/api/jobs_service.h"
#include "server/flows/flow_batchers.h"
#include "weir/v1/flows.grpc.pb.h"

namespace weir {

class FlowsService : public v1::Flows::CallbackService {
 public:
  explicit FlowsService(ServiceContext context)
      : context_(std::move(context)),
        batchers_(FlowGateway(context_.coordinator), context_.timers) {}

  grpc::ServerUnaryReactor* Deploy(grpc::CallbackServerContext* call,
                                   const v1::DeployRequest* request,
                                   v1::DeployResponse* response) override;
  grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* Attach(
      grpc::CallbackServerContext* call) override;
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* call,
                                 const v1::CallFlowRequest* request,
                                 v1::CallFlowResponse* response) override;
  grpc::ServerBidiReactor<v1::CallManyRequest, v1::CallManyResponse>* CallMany(
      grpc::CallbackServerContext* call) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* call, const v1::JobRequest* request,
                                v1::FlowStatus* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* call,
                                 const v1::ListFlowsRequest* request,
                                 v1::ListFlowsResponse* response) override;
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* call, const v1::JobRequest* request,
                                   v1::Job* response) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* call,
                                    const v1::ExplainFrontierRequest* request,
                                    v1::ExplainFrontierResponse* response) override;

 private:
  const ServiceContext context_;
  FlowBatchers batchers_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_FLOWS_SERVICE_H_
