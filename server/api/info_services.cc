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
  return Answer<v1::Info>(call, timer, context_.coordinator->Info(), response);
}

grpc::ServerUnaryReactor* ClusterService::ListWorkers(grpc::CallbackServerContext* call,
                                                      const v1::ListWorkersRequest*,
                                                      v1::ListWorkersResponse* response) {
  const CallTimer timer(context_.metrics, "Cluster.ListWorkers");
  v1::ListWorkersResponse workers;
  for (v1::Worker& worker : context_.coordinator->Workers()) {
    *workers.add_workers() = std::move(worker);
  }
  return Answer<v1::ListWorkersResponse>(call, timer, std::move(workers), response);
}

}  // namespace weir
