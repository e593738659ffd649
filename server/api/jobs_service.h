// The gRPC service of jobs. Thread-safe. REQUIRES: outlives the server that it is registered with,
// and the context outlives it.
#ifndef WEIR_SERVER_API_JOBS_SERVICE_H_
#define WEIR_SERVER_API_JOBS_SERVICE_H_

#include <memory>

#include "common/net/event_loop.h"
#include "server/api/metrics.h"
#include "server/jobs/coordinator.h"
#include "weir/v1/service.grpc.pb.h"

namespace weir {

// What every service needs.
struct ServiceContext {
  Coordinator* coordinator = nullptr;
  ServerMetrics* metrics = nullptr;
  std::shared_ptr<EventLoop> timers;
};

class JobsService : public v1::Jobs::CallbackService {
 public:
  explicit JobsService(ServiceContext context) : context_(std::move(context)) {}

  grpc::ServerReadReactor<v1::SubmitRequest>* Submit(grpc::CallbackServerContext* call,
                                                     v1::SubmitResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* call, const v1::JobRequest* request,
                                v1::Job* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* call, const v1::ListRequest* request,
                                 v1::ListResponse* response) override;
  grpc::ServerUnaryReactor* Wait(grpc::CallbackServerContext* call, const v1::JobRequest* request,
                                 v1::Job* response) override;
  grpc::ServerWriteReactor<v1::ResultResponse>* Result(grpc::CallbackServerContext* call,
                                                       const v1::JobRequest* request) override;
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* call, const v1::JobRequest* request,
                                   v1::Job* response) override;
  grpc::ServerWriteReactor<v1::LogsResponse>* Logs(grpc::CallbackServerContext* call,
                                                   const v1::LogsRequest* request) override;
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* call, const v1::RunRequest* request,
                                v1::RunResponse* response) override;

 private:
  const ServiceContext context_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_JOBS_SERVICE_H_
