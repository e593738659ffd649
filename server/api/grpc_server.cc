#include "server/api/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <mutex>
#include <utility>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/net/address.h"
#include "common/net/direct_dialer.h"
#include "common/net/event_loop.h"
#include "common/net/grpc_link.h"
#include "server/api/direct_port.h"
#include "server/api/flows_service.h"
#include "server/api/info_services.h"
#include "server/api/jobs_service.h"
#include "server/api/metrics.h"
#include "server/api/variables_service.h"

namespace weir {
namespace {

// Of one message: chunks are 1 MiB, but Explain takes a program whole.
constexpr int kMaxMessageBytes = 64 << 20;
constexpr int kMaxStreams = 1000;  // of one connection
// What a stream may send before it is asked for more: not less than a frame of rows, which would
// else wait for half of itself.
constexpr int kLookaheadBytes = 256 << 10;
constexpr char kJobsService[] = "weir.v1.Jobs";

void SetOptions(grpc::ServerBuilder* builder) {
  // Otherwise a second server on the port would take half of the connections, silently.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookaheadBytes);
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
}

void EnablePlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Returns: null where the gRPC port is encrypted, which a TCP link is not, or none can be had.
std::unique_ptr<DirectPort> DirectPortFor(const GrpcServerOptions& options,
                                          Coordinator* coordinator) {
  const absl::StatusOr<HostPort> address = ParseHostPort(options.address);
  if (options.credentials != nullptr || !address.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<DirectPort>> port =
      DirectPort::Open(address->host, coordinator->Acceptor());
  if (port.ok()) return *std::move(port);
  Log(LogLevel::kWarning, "no TCP port for workers", {{"why", port.status()}});
  return nullptr;
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(GrpcServerOptions options, Coordinator* coordinator, ServerMetrics* metrics)
      : coordinator_(coordinator),
        loop_(MakeThreadEventLoop("weir-api")),
        jobs_(ServiceContext{coordinator, metrics, loop_}),
        flows_(ServiceContext{coordinator, metrics, loop_}),
        variables_(ServiceContext{coordinator, metrics, loop_}),
        compiler_(ServiceContext{coordinator, metrics, loop_}),
        cluster_(ServiceContext{coordinator, metrics, loop_}),
        direct_(DirectPortFor(options, coordinator)),
        workers_({.link = {.greeting = direct_ == nullptr ? "" : DirectGreeting(direct_->port())},
                  .address = options.address,
                  .loop = loop_},
                 coordinator->Acceptor()),
        health_(std::make_shared<Health>()) {}

  absl::StatusOr<std::string> Start(const GrpcServerOptions& options) {
    WEIR_ASSIGN_OR_RETURN(HostPort address, ParseHostPort(options.address));
    EnablePlugins();
    grpc::ServerBuilder builder;
    SetOptions(&builder);
    int port = 0;
    builder.AddListeningPort(
        address.ToString(),
        options.credentials != nullptr ? options.credentials : grpc::InsecureServerCredentials(),
        &port);
    builder.RegisterService(&jobs_);
    builder.RegisterService(&flows_);
    builder.RegisterService(&variables_);
    builder.RegisterService(&compiler_);
    builder.RegisterService(&cluster_);
    builder.RegisterService(workers_.service());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return absl::UnavailableError(
          StrCat("cannot listen on ", options.address,
                 ": is another program using the port, and is the host one of this machine?"));
    }
    address.port = static_cast<uint16_t>(port);
    health_->Attach(server_->GetHealthCheckService());
    watcher_ = coordinator_->OnWorkersChanged(
        [health = health_](int ready) { health->SetWorkers(ready); });
    return address.ToString();
  }

  void SetDraining() { health_->SetDraining(); }

  void Shutdown(absl::Duration grace) {
    if (server_ == nullptr) return;
    coordinator_->StopWatchingWorkers(watcher_);
    health_->Attach(nullptr);
    const absl::Status reason = absl::UnavailableError("the coordinator shuts down");
    workers_.CloseLinks(reason);
    if (direct_ != nullptr) direct_->CloseLinks(reason);
    server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
    server_ = nullptr;
  }

 private:
  // Shared with the coordinator's callback, which may be under way when the server ends.
  class Health {
   public:
    void Attach(grpc::HealthCheckServiceInterface* service) {
      std::lock_guard lock(mutex_);
      service_ = service;
      Publish();
    }
    void SetWorkers(int ready) {
      std::lock_guard lock(mutex_);
      workers_ = ready;
      Publish();
    }
    void SetDraining() {
      std::lock_guard lock(mutex_);
      draining_ = true;
      Publish();
    }

   private:
    void Publish() {
      if (service_ == nullptr) return;
      service_->SetServingStatus("", !draining_);
      service_->SetServingStatus(kJobsService, !draining_ && workers_ > 0);
    }

    std::mutex mutex_;
    grpc::HealthCheckServiceInterface* service_ = nullptr;
    int workers_ = 0;
    bool draining_ = false;
  };

  Coordinator* const coordinator_;
  const std::shared_ptr<EventLoop> loop_;
  JobsService jobs_;
  FlowsService flows_;
  VariablesService variables_;
  CompilerService compiler_;
  ClusterService cluster_;
  const std::unique_ptr<DirectPort> direct_;  // null: workers stay with gRPC
  GrpcLinkService workers_;
  const std::shared_ptr<Health> health_;
  uint64_t watcher_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(GrpcServerOptions options,
                                                              Coordinator* coordinator,
                                                              ServerMetrics* metrics) {
  auto impl = std::make_unique<Impl>(options, coordinator, metrics);
  WEIR_ASSIGN_OR_RETURN(std::string address, impl->Start(options));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl), std::move(address)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl, std::string address)
    : impl_(std::move(impl)), address_(std::move(address)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

void GrpcServer::SetDraining() { impl_->SetDraining(); }
void GrpcServer::Shutdown(absl::Duration grace) { impl_->Shutdown(grace); }

}  // namespace weir
