// What the service adds to a call: a warm job of one op through a running server, next to a bare
// gRPC echo of the same bytes. Workers dial the server over gRPC, as processes do.
//
//   weir_overhead_bench     prints both medians for each size, and their ratio
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/net/grpc_link.h"
#include "common/net/tcp_link.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/grpc_server.h"
#include "server/api/metrics.h"
#include "server/jobs/coordinator.h"
#include "weir/v1/service.grpc.pb.h"
#include "worker/service/worker_service.h"

namespace weir {
namespace {

constexpr int kWarm = 100;
constexpr int kCalls = 1000;
constexpr double kAllowed = 3;

class Echo : public v1::Jobs::CallbackService {
 public:
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* call, const v1::RunRequest* request,
                                v1::RunResponse* response) override {
    for (const v1::Tensor& input : request->inputs()) *response->add_outputs() = input;
    grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

struct EchoServer {
  Echo service;
  std::unique_ptr<grpc::Server> server;
  std::string address;

  EchoServer() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
    address = StrCat("127.0.0.1:", port);
  }
  ~EchoServer() { server->Shutdown(); }
};

v1::RunRequest RequestOf(int64_t elements) {
  v1::RunRequest request;
  v1::Program* program = request.mutable_spec()->mutable_program();
  program->set_format(v1::Program::FORMAT_TEXT);
  program->set_name("add.weir");
  program->set_source("func @main(%x: f32[n]) -> (f32[n] \"y\") { %y = add(%x, %x) return %y }");
  request.mutable_spec()->add_input_names("x");
  ToMessage(Tensor::Zeros(DType::kF32, {elements}), request.add_inputs());
  return request;
}

// One call; none if it fails.
std::optional<absl::Duration> Call(v1::Jobs::Stub& stub, const v1::RunRequest& request,
                                   v1::RunResponse* response) {
  grpc::ClientContext context;
  const absl::Time start = absl::Now();
  const grpc::Status status = stub.Run(&context, request, response);
  const absl::Duration took = absl::Now() - start;
  if (status.ok()) return took;
  std::fprintf(stderr, "%s\n", status.error_message().c_str());
  return std::nullopt;
}

absl::Duration Median(std::vector<absl::Duration> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

struct Times {
  absl::Duration bare;
  absl::Duration job;
};

// Medians. Bare calls and jobs take turns, so that both meet the machine as it is.
std::optional<Times> Measure(v1::Jobs::Stub& bare, v1::Jobs::Stub& job,
                             const v1::RunRequest& request, v1::RunResponse* response) {
  std::vector<absl::Duration> bare_times, job_times;
  for (int i = 0; i < kWarm + kCalls; ++i) {
    for (auto [stub, times] : {std::pair(&bare, &bare_times), std::pair(&job, &job_times)}) {
      const std::optional<absl::Duration> took = Call(*stub, request, response);
      if (!took.has_value()) return std::nullopt;
      if (i >= kWarm) times->push_back(*took);
    }
  }
  return Times{Median(std::move(bare_times)), Median(std::move(job_times))};
}

int Main() {
  InitLogging({.program = "overhead_bench", .level = LogLevel::kWarning});
  Coordinator coordinator(CoordinatorOptions(), MakeMemoryJournal());
  ServerMetrics metrics(&coordinator);
  auto server = GrpcServer::Start({.address = "127.0.0.1:0"}, &coordinator, &metrics);
  if (!server.ok()) return 1;
  GrpcDialer dialer;
  TcpTransport peers;
  WorkerTransports transports;
  transports.coordinator = &dialer;
  transports.peers = &peers;
  transports.listen = [&peers](LinkOptions options, OnAccept on_accept) {
    return peers.Listen("127.0.0.1:0", std::move(options), std::move(on_accept));
  };
  WorkerService worker({.name = "w1", .coordinator_address = (*server)->address()}, transports);
  if (!worker.Start().ok()) return 1;
  EchoServer echo;
  auto echo_stub =
      v1::Jobs::NewStub(grpc::CreateChannel(echo.address, grpc::InsecureChannelCredentials()));
  auto job_stub = v1::Jobs::NewStub(
      grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials()));
  bool within = true;
  for (const int64_t elements : {1, 256, 16384, 262144}) {
    v1::RunRequest request = RequestOf(elements);
    v1::RunResponse response;
    grpc::ClientContext first;
    if (!job_stub->Run(&first, request, &response).ok()) return 1;
    request.mutable_spec()->clear_program();
    request.set_program_id(response.program_id());
    const std::optional<Times> times = Measure(*echo_stub, *job_stub, request, &response);
    if (!times.has_value()) return 1;
    const double ratio = absl::FDivDuration(times->job, times->bare);
    within = within && ratio <= kAllowed;
    std::printf("%8lld bytes  echo %8.1f us  job %8.1f us  ratio %.2f\n",
                static_cast<long long>(elements * 4), absl::ToDoubleMicroseconds(times->bare),
                absl::ToDoubleMicroseconds(times->job), ratio);
  }
  return within ? 0 : 1;
}

}  // namespace
}  // namespace weir

int main() { return weir::Main(); }
