#include "server/api/info_services.h"

#include "server/api/calls.h"

namespace weir {

grpc::ServerWriteReactor<v1::ExplainResponse>* CompilerService::Explain(
    grpc::CallbackServerContext* call, const v1::ExplainRequest* request) {
  return BeginExplain(context_, call, request);
}

grpc::ServerUnaryReactor* ClusterService::GetInfo(grpc::CallbackServerContext* call,
                                                  const v1::InfoRequest*, v1::Info* response) {
  const CallTimer timer(context_.metrics, "Cluster.GetInfo");
  *response = context_.coordinator->Info();
  timer.Done(0);
  call->DefaultReactor()->Finish(grpc::Status::OK);
  return call->DefaultReactor();
}

grpc::ServerUnaryReactor* ClusterService::ListWorkers(grpc::CallbackServerContext* call,
                                                      const v1::ListWorkersRequest*,
                                                      v1::ListWorkersResponse* response) {
  const CallTimer timer(context_.metrics, "Cluster.ListWorkers");
  for (v1::Worker& worker : context_.coordinator->Workers()) {
    *response->add_workers() = std::move(worker);
  }
  timer.Done(0);
  call->DefaultReactor()->Finish(grpc::Status::OK);
  return call->DefaultReactor();
}

}  // namespace weir
