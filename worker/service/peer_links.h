// The outgoing data connections of a worker: one to each peer that it sends to, dialed when first
// needed. Thread-safe.
#ifndef WEIR_WORKER_SERVICE_PEER_LINKS_H_
#define WEIR_WORKER_SERVICE_PEER_LINKS_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/net/link.h"
#include "weir/v1/worker.pb.h"

namespace weir {

class PeerLinks {
 public:
  using OnLost = std::function<void(uint64_t worker_id, const absl::Status& reason)>;

  // `on_lost` runs on a callback thread of the dialer.
  PeerLinks(Dialer* dialer, OnLost on_lost);
  ~PeerLinks();

  // Queues a frame; the connection is made if there is none.
  void Send(const v1::Peer& peer, Frame frame);
  // Waits until no frame waits for its connection any more: links have taken them all, or their
  // peer is lost. At most as long as dialing may take.
  void Flush();
  // What links have taken still reaches the peers; frames that wait for a connection are dropped.
  void CloseAll();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_WORKER_SERVICE_PEER_LINKS_H_
