// The outgoing data connections of a worker: one to each peer that it sends to, dialed when first
// needed. Thread-safe.
//
// Whatever is sent is queued; who can wait asks first whether there is room, so that what the peer
// has not taken stays bounded: by its link's receive window, and before there is a link by 1 MiB.
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
  using OnRoom = std::function<void(uint64_t worker_id)>;

  // Both run on a callback thread of the dialer. `on_room`: HasRoom went from false to true, or
  // may have.
  PeerLinks(Dialer* dialer, OnLost on_lost, OnRoom on_room);
  ~PeerLinks();

  // Queues a frame; the connection is made if there is none.
  void Send(const v1::Peer& peer, Frame frame);
  // Whether the peer has taken enough of what was sent, so that there may be more.
  bool HasRoom(const v1::Peer& peer) const;
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
