// A session with a coordinator over gRPC. Thread-safe.
#ifndef WEIR_CLIENT_API_REMOTE_SESSION_H_
#define WEIR_CLIENT_API_REMOTE_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/api/session.h"

namespace weir {

struct RemoteOptions {
  std::string address = "localhost:7077";  // HOST:PORT
  absl::Duration connect_timeout = absl::Seconds(20);
};

// Returns: UNAVAILABLE with what to do about it if nobody answers, or somebody answers who speaks
// something else (TLS).
absl::StatusOr<std::unique_ptr<Session>> ConnectRemote(const RemoteOptions& options);

// Asks grpc.health.v1. Returns: true if the service is SERVING.
absl::StatusOr<bool> CheckHealth(const RemoteOptions& options, const std::string& service);

}  // namespace weir

#endif  // WEIR_CLIENT_API_REMOTE_SESSION_H_
