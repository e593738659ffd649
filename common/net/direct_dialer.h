// DirectDialer: dials by one form of link and, where the other end greets with a TCP port of its
// own, moves to a TCP link there. So a program needs to know one address, that of a gRPC port, and
// small messages still take the shortest way: on gRPC each costs some switches between threads, on
// TCP none but that to the reader.
//
// The port is taken if it can be reached at once; behind a wall that lets only the first one
// through, the first link stays. Both ends see links like any other. Thread-safe.
#ifndef WEIR_COMMON_NET_DIRECT_DIALER_H_
#define WEIR_COMMON_NET_DIRECT_DIALER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/net/link.h"

namespace weir {

// What a listener greets with if it also accepts TCP links on this port of its host.
std::string DirectGreeting(uint16_t port);
// Returns: nothing for any other greeting.
std::optional<uint16_t> DirectPortOf(std::string_view greeting);

class DirectDialer : public Dialer {
 public:
  // REQUIRES: both outlive this and the links that it makes.
  DirectDialer(Dialer* first, Dialer* tcp) : first_(first), tcp_(tcp) {}

  void Dial(const std::string& address, DialOptions options, OnDialed done) override;

 private:
  Dialer* const first_;
  Dialer* const tcp_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_DIRECT_DIALER_H_
