// The gRPC service of variables. Thread-safe. REQUIRES: outlives the server that it is registered
// with, and the context outlives it.
#ifndef WEIR_SERVER_API_VARIABLES_SERVICE_H_
#define WEIR_SERVER_API_VARIABLES_SERVICE_H_

#include <utility>

#include "server/api/jobs_service.h"
#include "weir/v1/variables.grpc.pb.h"

namespace weir {

class VariablesService : public v1::Variables::CallbackService {
 public:
  explicit VariablesService(ServiceContext context) : context_(std::move(context)) {}

  grpc::ServerReadReactor<v1::CreateVariableRequest>* Create(grpc::CallbackServerContext* call,
                                                             v1::Variable* response) override;
  grpc::ServerWriteReactor<v1::ReadVariableResponse>* Read(
      grpc::CallbackServerContext* call, const v1::VariableRequest* request) override;
  grpc::ServerUnaryReactor* Delete(grpc::CallbackServerContext* call,
                                   const v1::VariableRequest* request,
                                   v1::DeleteVariableResponse* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* call,
                                 const v1::ListVariablesRequest* request,
                                 v1::ListVariablesResponse* response) override;

 private:
  const ServiceContext context_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_VARIABLES_SERVICE_H_
