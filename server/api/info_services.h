// The gRPC services besides jobs: the compiler and the cluster. Thread-safe. REQUIRES: outlive the
// server that they are registered with, and the context outlives them.
#ifndef WEIR_SERVER_API_INFO_SERVICES_H_
#define WEIR_SERVER_API_INFO_SERVICES_H_

#include <utility>

#include "server/api/jobs_service.h"
#include "weir/v1/service.grpc.pb.h"

namespace weir {

class CompilerService : public v1::Compiler::CallbackService {
 public:
  explicit CompilerService(ServiceContext context) : context_(std::move(context)) {}

  grpc::ServerWriteReactor<v1::ExplainResponse>* Explain(
      grpc::CallbackServerContext* call, const v1::ExplainRequest* request) override;

 private:
  const ServiceContext context_;
};

class ClusterService : public v1::Cluster::CallbackService {
 public:
  explicit ClusterService(ServiceContext context) : context_(std::move(context)) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* call,
                                    const v1::InfoRequest* request, v1::Info* response) override;
  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* call,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override;

 private:
  const ServiceContext context_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_INFO_SERVICES_H_
