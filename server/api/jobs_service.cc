#include "server/api/jobs_service.h"

#include <utility>

#include "common/base/status.h"
#include "server/api/calls.h"
#include "server/api/grpc_status.h"

namespace weir {
grpc::ServerReadReactor<v1::SubmitRequest>* JobsService::Submit(grpc::CallbackServerContext* call,
                                                                v1::SubmitResponse* response) {
  return BeginSubmit(context_, call, response);
}

grpc::ServerUnaryReactor* JobsService::Get(grpc::CallbackServerContext* call,
                                           const v1::JobRequest* request, v1::Job* response) {
  const CallTimer timer(context_.metrics, "Jobs.Get");
  return Answer(call, timer, context_.coordinator->Get(request->id()), response);
}

grpc::ServerUnaryReactor* JobsService::List(grpc::CallbackServerContext* call,
                                            const v1::ListRequest* request,
                                            v1::ListResponse* response) {
  const CallTimer timer(context_.metrics, "Jobs.List");
  return Answer(call, timer, context_.coordinator->List(*request), response);
}

grpc::ServerUnaryReactor* JobsService::Wait(grpc::CallbackServerContext* call,
                                            const v1::JobRequest* request, v1::Job* response) {
  return BeginWait(context_, call, request, response);
}

grpc::ServerWriteReactor<v1::ResultResponse>* JobsService::Result(grpc::CallbackServerContext* call,
                                                                  const v1::JobRequest* request) {
  return BeginResult(context_, call, request);
}

grpc::ServerUnaryReactor* JobsService::Cancel(grpc::CallbackServerContext* call,
                                              const v1::JobRequest* request, v1::Job* response) {
  const CallTimer timer(context_.metrics, "Jobs.Cancel");
  return Answer(call, timer, context_.coordinator->Cancel(request->id()), response);
}

grpc::ServerWriteReactor<v1::LogsResponse>* JobsService::Logs(grpc::CallbackServerContext* call,
                                                              const v1::LogsRequest* request) {
  return BeginLogs(context_, call, request);
}

grpc::ServerUnaryReactor* JobsService::Run(grpc::CallbackServerContext* call,
                                           const v1::RunRequest* request,
                                           v1::RunResponse* response) {
  return BeginRun(context_, call, request, response);
}

}  // namespace weir
