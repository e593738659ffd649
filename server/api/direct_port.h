// The TCP port for workers that the gRPC port tells them of (common/net/direct_dialer.h). Owned by
// the GrpcServer. Thread-safe.
#ifndef WEIR_SERVER_API_DIRECT_PORT_H_
#define WEIR_SERVER_API_DIRECT_PORT_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/link.h"
#include "common/net/tcp_link.h"

namespace weir {

class DirectPort {
 public:
  // Listens on a free port of `host`. Errors: UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<DirectPort>> Open(const std::string& host,
                                                          OnAccept on_accept);

  uint16_t port() const { return port_; }
  // Closes every link that was accepted and lives, and accepts no more.
  void CloseLinks(const absl::Status& reason);

 private:
  DirectPort() = default;
  void Note(const std::shared_ptr<Link>& link);

  TcpTransport transport_;
  std::unique_ptr<Listener> listener_;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Link>> links_;  // guarded by mutex_
};

}  // namespace weir

#endif  // WEIR_SERVER_API_DIRECT_PORT_H_
