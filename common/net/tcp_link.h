// Links over TCP: what workers exchange tensors on, and, with the coordinator, all else.
//
// Between programs of one machine (whose address is 127.0.0.1 or localhost) the bytes take a local
// socket beside the port, which costs half as much; nobody who uses a link sees a difference.
//
// Payload leaves by scatter-gather straight from the memory of the frame and arrives in the memory
// that the allocator of the receiver gave. Callbacks run on the one thread of the transport's
// io_context; a small frame is written on the thread that sends it. Thread-safe. Destroying the
// transport lets links that were closed bring their last frames over (LinkOptions::linger) and ends
// the others with UNAVAILABLE; REQUIRES: that is not done on its callback thread.
//
//   TcpTransport transport;
//   auto listener = transport.Listen("0.0.0.0:0", {.generation = 1}, [&](std::shared_ptr<Link>
//   link) { ... }); transport.Dial("worker-2:7100", {.link = {.generation = 1}}, [&](auto link) {
//   ... });
#ifndef WEIR_COMMON_NET_TCP_LINK_H_
#define WEIR_COMMON_NET_TCP_LINK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/net/link.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace weir {

struct TcpOptions {
  // Where to run: one thread of the caller runs it, and once more after the transport was
  // destroyed. Null: the transport makes a context and a thread of its own.
  boost::asio::io_context* context = nullptr;
  // A peer whose machine is gone is noticed after about this long without an answer.
  absl::Duration keepalive = absl::Seconds(10);
  // Which way bytes take that stay on this machine.
  enum class Loopback { kLocalSocket, kTcp };
  Loopback loopback = Loopback::kLocalSocket;
};

class TcpTransport : public Dialer {
 public:
  explicit TcpTransport(TcpOptions options = {});
  ~TcpTransport() override;

  // Listens on HOST:PORT; port 0 takes a free one.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept);

  void Dial(const std::string& address, DialOptions options, OnDialed done) override;

 private:
  class State;

  const std::shared_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_TCP_LINK_H_
