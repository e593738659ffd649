// The gRPC port: clients, workers, health and reflection. Owned by the program that runs the
// coordinator. Thread-safe.
//
// Health: "" says that the process serves, "weir.v1.Jobs" that jobs can run now, which takes a
// worker. Both are NOT_SERVING while the coordinator drains.
#ifndef WEIR_SERVER_API_GRPC_SERVER_H_
#define WEIR_SERVER_API_GRPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/jobs/coordinator.h"

namespace grpc {
class ServerCredentials;
}  // namespace grpc

namespace weir {

class ServerMetrics;

struct GrpcServerOptions {
  std::string address;                                   // HOST:PORT; port 0 takes a free one
  std::shared_ptr<grpc::ServerCredentials> credentials;  // null: plain text
};

class GrpcServer {
 public:
  // REQUIRES: coordinator and metrics outlive the server. Returns: UNAVAILABLE that names the
  // address if it cannot be had.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(GrpcServerOptions options,
                                                           Coordinator* coordinator,
                                                           ServerMetrics* metrics);
  // As Shutdown without grace.
  ~GrpcServer();

  // With the port that was bound.
  const std::string& address() const { return address_; }

  // From now on health says that nothing is served.
  void SetDraining();
  // Ends the connections of workers, then waits for calls, which are cancelled after `grace`.
  void Shutdown(absl::Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl, std::string address);

  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_GRPC_SERVER_H_
