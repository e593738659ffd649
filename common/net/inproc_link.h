// Links between parts of one process: frames change hands by reference, without sockets or copies.
//
// In the form kAsBytes every message also goes through its bytes and back, as on a real connection;
// that is the default of debug builds, so that nothing comes to rely on shared memory. Callbacks
// run on the loop of the network. Thread-safe. Destroying the network lets links that were closed
// bring their last frames over (LinkOptions::linger) and ends the others with UNAVAILABLE;
// REQUIRES: that is not done on the loop.
#ifndef WEIR_COMMON_NET_INPROC_LINK_H_
#define WEIR_COMMON_NET_INPROC_LINK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/net/event_loop.h"
#include "common/net/link.h"

namespace weir {

class InprocNetwork : public Dialer {
 public:
  enum class Payload { kByReference, kAsBytes };
#ifdef NDEBUG
  static constexpr Payload kDefaultPayload = Payload::kByReference;
#else
  static constexpr Payload kDefaultPayload = Payload::kAsBytes;
#endif

  // Callbacks run on `loop`; null makes a thread for them.
  explicit InprocNetwork(std::shared_ptr<EventLoop> loop = nullptr,
                         Payload payload = kDefaultPayload);
  ~InprocNetwork() override;

  // `address` is any text. Errors: ALREADY_EXISTS while another listener has it.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept);

  void Dial(const std::string& address, DialOptions options, OnDialed done) override;

 private:
  class Hub;
  class Endpoint;
  class NamedListener;

  const std::shared_ptr<Hub> hub_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_INPROC_LINK_H_
