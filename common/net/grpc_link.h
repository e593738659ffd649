// Links over one bidirectional gRPC stream (weir.v1.WorkerLink): what workers and the coordinator
// speak.
//
// Payload travels in chunks of at most 1 MiB with one write outstanding; flow control above HTTP/2
// is the credit of the link. Callbacks run on gRPC threads, or on the loop for what begins on a
// user's stack (the end by Close, the begin by Start). Thread-safe.
#ifndef WEIR_COMMON_NET_GRPC_LINK_H_
#define WEIR_COMMON_NET_GRPC_LINK_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/net/event_loop.h"
#include "common/net/link.h"

namespace grpc {
class ChannelCredentials;
class Service;
}  // namespace grpc

namespace weir {

using CallMetadata = std::multimap<std::string, std::string>;

struct GrpcLinkServiceOptions {
  LinkOptions link;
  std::string address;  // what address() says: where the server listens
  // Whether a call with this metadata may connect; null lets everybody in.
  std::function<absl::Status(const CallMetadata& metadata)> authorize;
  std::shared_ptr<EventLoop> loop;  // null makes a thread
};

// The listening side. Register service() with a grpc::ServerBuilder. REQUIRES: outlives the server.
//
// To shut down: CloseLinks, then Shutdown of the server with a deadline (without one it waits for
// ever while a peer does not answer), then destroy.
class GrpcLinkService : public Listener {
 public:
  GrpcLinkService(GrpcLinkServiceOptions options, OnAccept on_accept);
  ~GrpcLinkService() override;

  grpc::Service* service();

  const std::string& address() const override;
  void SetGeneration(uint64_t generation) override;
  void Close() override;

  // Closes every link that was accepted and lives, and accepts no more.
  void CloseLinks(const absl::Status& reason);

 private:
  class State;
  class Handler;
  class ServerStream;

  const std::shared_ptr<State> state_;
  const std::unique_ptr<Handler> handler_;
};

struct GrpcDialerOptions {
  std::shared_ptr<grpc::ChannelCredentials> credentials;      // null: plain text
  std::vector<std::pair<std::string, std::string>> metadata;  // sent with each call
  std::shared_ptr<EventLoop> loop;                            // null makes a thread
};

// Each link has a connection of its own. Destroying the dialer lets links that were closed
// bring their last frames over (LinkOptions::linger), ends the others with UNAVAILABLE and waits
// until gRPC has let go of them. REQUIRES: that is not done in a callback.
class GrpcDialer : public Dialer {
 public:
  explicit GrpcDialer(GrpcDialerOptions options = {});
  ~GrpcDialer() override;

  void Dial(const std::string& address, DialOptions options, OnDialed done) override;

 private:
  class State;
  class ClientStream;

  const std::shared_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_GRPC_LINK_H_
