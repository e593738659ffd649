// A coordinator behind a real gRPC server, and workers, in one process; for tests.
#ifndef WEIR_TESTS_CLUSTER_GRPC_TEST_CLUSTER_H_
#define WEIR_TESTS_CLUSTER_GRPC_TEST_CLUSTER_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/net/grpc_link.h"
#include "common/net/tcp_link.h"
#include "server/api/grpc_server.h"
#include "server/api/metrics.h"
#include "server/jobs/coordinator.h"
#include "weir/v1/service.grpc.pb.h"
#include "worker/service/worker_service.h"

namespace weir {

// Workers that dial the gRPC port and exchange rows over TCP, as processes do.
class GrpcTestCluster {
 public:
  explicit GrpcTestCluster(int workers)
      : coordinator_(Patient(), MakeMemoryJournal()), metrics_(&coordinator_) {
    auto server = GrpcServer::Start({.address = "127.0.0.1:0"}, &coordinator_, &metrics_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    for (int i = 0; i < workers; ++i) AddWorker();
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    AwaitWorkers(workers);
  }

  ~GrpcTestCluster() {
    workers_.clear();
    server_->Shutdown(absl::Seconds(1));
  }

  // Breaks the connections of all clients (workers here have theirs in this process), and serves
  // again at the same address.
  void RestartClientPort() {
    const std::string address = client_server_->address();
    client_server_->Shutdown(absl::ZeroDuration());
    client_server_ = nullptr;
    ServeClients(address);
  }
  void ServeClients(const std::string& address) {
    auto server = GrpcServer::Start({.address = address}, &coordinator_, &metrics_);
    EXPECT_TRUE(server.ok()) << server.status();
    client_server_ = *std::move(server);
  }
  const std::string& client_address() const { return client_server_->address(); }

  void AddWorker() {
    WorkerTransports transports;
    transports.coordinator = &dialer_;
    transports.peers = &peers_;
    transports.listen = [this](LinkOptions options, OnAccept on_accept) {
      return peers_.Listen("127.0.0.1:0", std::move(options), std::move(on_accept));
    };
    const std::string name = StrCat("w", ++names_);
    workers_.push_back(std::make_unique<WorkerService>(
        WorkerOptions{.name = name, .coordinator_address = server_->address()},
        std::move(transports)));
    EXPECT_TRUE(workers_.back()->Start().ok());
  }

  void DropWorker(size_t index) { workers_.erase(workers_.begin() + index); }
  // As a worker that is asked to stop. Returns: once it has nothing that others need.
  absl::Status DrainWorker(size_t index) { return workers_[index]->Drain(absl::Minutes(5)); }

  void AwaitWorkers(int64_t count) {
    while (coordinator_.Stats().workers_ready != count) absl::SleepFor(absl::Milliseconds(5));
  }

  Coordinator& coordinator() { return coordinator_; }
  GrpcServer& server() { return *server_; }
  ServerMetrics& metrics() { return metrics_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }
  std::unique_ptr<v1::Jobs::Stub> Jobs() { return v1::Jobs::NewStub(channel_); }

 private:
  // Nobody is taken to be lost because the machine is busy.
  static CoordinatorOptions Patient() {
    CoordinatorOptions options;
    options.limits.fence = absl::Seconds(10);  // a flow whose worker is lost ends after that
    options.limits.lost_after = absl::Minutes(5);
    options.limits.register_within = absl::Minutes(5);
    options.limits.cause_within = absl::Minutes(5);
    return options;
  }

  Coordinator coordinator_;
  ServerMetrics metrics_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GrpcServer> client_server_;  // a second port, if a test asks for it
  GrpcDialer dialer_;
  TcpTransport peers_;
  int names_ = 0;
  std::vector<std::unique_ptr<WorkerService>> workers_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace weir

#endif  // WEIR_TESTS_CLUSTER_GRPC_TEST_CLUSTER_H_
