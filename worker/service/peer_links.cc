#include "worker/service/peer_links.h"

#include <algorithm>
#include <condition_variable>

#include "common/base/status.h"

namespace weir {
namespace {

constexpr absl::Duration kDialWithin = absl::Seconds(15);
constexpr size_t kMostWaiting = size_t{1} << 20;

}  // namespace

// A peer is known by (id, incarnation): a restarted one is another peer.
struct PeerLinks::State : std::enable_shared_from_this<PeerLinks::State> {
  using Key = std::pair<uint64_t, uint64_t>;
  struct Peer {
    std::shared_ptr<Link> link;
    std::vector<Frame> waiting;  // until the link is there
    size_t waiting_cost = 0;
  };

  State(Dialer* dialer, OnLost on_lost, OnRoom on_room)
      : dialer(dialer), on_lost(std::move(on_lost)), on_room(std::move(on_room)) {}

  void Send(const v1::Peer& to, Frame frame) {
    const Key key{to.worker_id(), to.incarnation()};
    std::shared_ptr<Link> link;
    bool dial = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (closed) return;
      auto [it, added] = peers.try_emplace(key);
      dial = added;
      link = it->second.link;
      if (link == nullptr) {
        it->second.waiting_cost += FrameCost(frame);
        it->second.waiting.push_back(std::move(frame));
      }
    }
    if (dial) return Dial(key, to);
    if (link == nullptr) return;
    const absl::Status status = link->Send(std::move(frame));
    if (!status.ok()) Lose(key, status);
  }

  bool HasRoom(const v1::Peer& to) {
    std::shared_ptr<Link> link;
    {
      std::lock_guard<std::mutex> lock(mutex);
      const auto found = peers.find({to.worker_id(), to.incarnation()});
      if (found == peers.end()) return true;
      link = found->second.link;
      if (link == nullptr) return found->second.waiting_cost < kMostWaiting;
    }
    return link->writable();
  }

  void Dial(Key key, const v1::Peer& to) {
    DialOptions options;
    options.deadline = kDialWithin;
    dialer->Dial(to.data_address(), options,
                 [self = shared_from_this(), key](absl::StatusOr<std::shared_ptr<Link>> link) {
                   self->OnDialed(key, std::move(link));
                 });
  }

  void OnDialed(Key key, absl::StatusOr<std::shared_ptr<Link>> dialed) {
    if (!dialed.ok()) return Lose(key, dialed.status());
    std::shared_ptr<Link> link = *std::move(dialed);
    std::weak_ptr<State> weak = weak_from_this();
    link->Start({.on_frame = [](Frame, Credit) {},
                 .on_writable =
                     [weak, key] {
                       if (auto self = weak.lock()) self->on_room(key.first);
                     },
                 .on_closed =
                     [weak, key](const absl::Status& reason) {
                       if (auto self = weak.lock()) self->OnClosed(key, reason);
                     }});
    absl::Status status;
    {
      // Held while sending, so that frames keep their order.
      std::lock_guard<std::mutex> lock(mutex);
      if (closed) return;
      Peer& peer = peers[key];
      for (Frame& frame : peer.waiting) {
        if (status.ok()) status = link->Send(std::move(frame));
      }
      peer.waiting.clear();
      peer.waiting_cost = 0;
      peer.link = std::move(link);
      connected.notify_all();
    }
    if (!status.ok()) return Lose(key, status);
    on_room(key.first);
  }

  // A peer that leaves in good order needs nothing more; whoever needs something from it hears of
  // its leaving from the coordinator.
  void OnClosed(Key key, const absl::Status& reason) {
    if (!reason.ok() && !absl::IsCancelled(reason)) return Lose(key, reason);
    {
      std::lock_guard<std::mutex> lock(mutex);
      peers.erase(key);
    }
    on_room(key.first);
  }

  void Lose(Key key, const absl::Status& reason) {
    std::shared_ptr<Link> link;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto it = peers.find(key);
      if (it == peers.end() || closed) return;
      link = std::move(it->second.link);
      peers.erase(it);
      connected.notify_all();
    }
    on_lost(key.first, reason);
  }

  Dialer* const dialer;
  const OnLost on_lost;
  const OnRoom on_room;
  std::mutex mutex;
  std::condition_variable connected;  // or given up
  bool closed = false;
  std::map<Key, Peer> peers;
};

PeerLinks::PeerLinks(Dialer* dialer, OnLost on_lost, OnRoom on_room)
    : state_(std::make_shared<State>(dialer, std::move(on_lost), std::move(on_room))) {}

PeerLinks::~PeerLinks() { CloseAll(); }

void PeerLinks::Send(const v1::Peer& peer, Frame frame) { state_->Send(peer, std::move(frame)); }

bool PeerLinks::HasRoom(const v1::Peer& peer) const { return state_->HasRoom(peer); }

void PeerLinks::Flush() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->connected.wait_for(lock, absl::ToChronoNanoseconds(kDialWithin), [this] {
    return std::all_of(state_->peers.begin(), state_->peers.end(),
                       [](const auto& peer) { return peer.second.link != nullptr; });
  });
}

void PeerLinks::CloseAll() {
  std::map<State::Key, State::Peer> peers;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->closed = true;
    peers.swap(state_->peers);
  }
  for (auto& [key, peer] : peers) {
    if (peer.link != nullptr) peer.link->Close(absl::OkStatus());
  }
}

}  // namespace weir
