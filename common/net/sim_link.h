// Links in simulated time: seeded delays and faults, so that a cluster in one process can be broken
// on purpose and the same seed breaks it in the same way.
//
// Bytes pass through the encoding of the wire, arrive in pieces and in order. Addresses are
// HOST:NAME; faults act on hosts. Everything, callbacks included, runs on the one thread that runs
// the loop. Thread-compatible. REQUIRES: the loop outlives the network and everything that came
// from it.
//
//   SimLoop loop;
//   SimNetwork network(&loop, {.seed = 7});
//   auto listener = network.Listen("coordinator:control", {}, on_accept);
//   network.MakeDialer("worker-1")->Dial("coordinator:control", {}, on_dialed);
//   loop.RunFor(absl::Seconds(1));
#ifndef WEIR_COMMON_NET_SIM_LINK_H_
#define WEIR_COMMON_NET_SIM_LINK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/net/link.h"
#include "common/net/sim_loop.h"

namespace weir {

struct SimOptions {
  uint64_t seed = 1;
  absl::Duration min_delay = absl::Microseconds(50);
  absl::Duration max_delay = absl::Milliseconds(2);
  // For each message that is sent, how likely its connection is cut instead.
  double cut_chance = 0;
};

class SimNetwork {
 public:
  SimNetwork(SimLoop* loop, SimOptions options);
  ~SimNetwork();

  // Errors: ALREADY_EXISTS while another listener has the address.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept);

  // Returns: the dialer of programs on `host`.
  std::unique_ptr<Dialer> MakeDialer(const std::string& host);

  // From now on nothing passes between the hosts; what is on its way waits until they are healed.
  void Partition(const std::string& host, const std::string& other);
  void Heal(const std::string& host, const std::string& other);

  // Breaks every connection of the host; what is on its way is lost. Both ends notice within
  // max_delay.
  void CutHost(const std::string& host);

 private:
  class State;
  class Connection;
  class End;
  class NamedListener;
  class HostDialer;

  const std::shared_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_SIM_LINK_H_
