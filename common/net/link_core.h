// LinkCore: the part of a link that all forms share: handshake, queue, credit, order of callbacks,
// end.
//
// It is a state machine without threads or sockets. A form is a LinkDriver that takes messages from
// the core and writes them, and gives it those that it read. Thread-safe. The core and its driver
// own each other until OnDisconnected.
#ifndef WEIR_COMMON_NET_LINK_CORE_H_
#define WEIR_COMMON_NET_LINK_CORE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/net/event_loop.h"
#include "common/net/link.h"
#include "common/net/wire.h"

namespace weir {

// What a form does for its core. Called from any thread, without locks of the core.
class LinkDriver {
 public:
  virtual ~LinkDriver() = default;
  // There may be messages to Take.
  virtual void WantWrite() = 0;
  // Nothing is worth reading or writing any more: tear down, then call OnDisconnected. May be
  // repeated.
  virtual void Disconnect() = 0;
};

enum class LinkRole { kDialer, kListener };

struct LinkSetup {
  LinkRole role = LinkRole::kDialer;
  LinkOptions options;
  std::string peer_address;
  absl::Duration handshake_timeout = absl::Seconds(5);
  // Whether messages leave as bytes, so that Send takes the checksum.
  enum class Payload { kByReference, kAsBytes } payload = Payload::kAsBytes;
  std::shared_ptr<EventLoop>
      loop;         // for callbacks that have no thread of the driver, and for time-outs
  OnDialed opened;  // called once: when the handshake is over, or why it failed
};

class LinkCore : public Link, public std::enable_shared_from_this<LinkCore> {
 public:
  explicit LinkCore(LinkSetup setup);

  // Begins the handshake. REQUIRES: called once, before any other method but Cut.
  void Attach(std::shared_ptr<LinkDriver> driver);

  // For the driver. Take and OnMessage are each called by one thread at a time.

  // Returns: false if there is nothing to write for now; WantWrite will be called when there is.
  bool Take(Message* message);
  // Returns: whether a message of this kind, generation and cost may come in.
  absl::Status Admit(MessageKind kind, uint64_t generation, size_t cost);
  void OnMessage(Message message);
  // The close message has left; no other follows.
  void OnCloseWritten();
  // The bytes that came make no sense, or a frame is refused: tells the peer and ends the link.
  void OnDamaged(const absl::Status& reason);
  // The connection is gone; `reason` counts unless the end had a reason already.
  void OnDisconnected(const absl::Status& reason);
  // Ends the link without a word to the peer, and disconnects the driver.
  void Cut(const absl::Status& reason);
  // Waits until a link that was closed on this side has brought its last frames and its reason to
  // the peer, which then hangs up, for at most as long as it lingers. REQUIRES: not on the loop.
  void Linger();
  // Runs the callbacks that are due. REQUIRES: the thread may run callbacks.
  void Deliver();
  // The same on the loop.
  void PostDeliver();
  // Returns: whether the core still wants what the driver reads.
  bool reading() const;

  // Link.
  void Start(LinkCallbacks callbacks) override;
  absl::Status Send(Frame frame) override;
  bool writable() const override;
  void Close(absl::Status reason) override;
  uint64_t generation() const override { return generation_; }
  const std::string& peer_address() const override { return setup_.peer_address; }
  const std::string& peer_greeting() const override { return peer_greeting_; }
  LinkStats stats() const override;

 private:
  enum class Phase {
    kHandshake,  // the hello of the peer has not come
    kOpen,
    kDraining,  // closed with OK here: what is queued still leaves
    kClosing,   // the close message has to leave
    kClosed,    // nothing leaves any more
  };
  struct Received {
    Frame frame;
    size_t cost;
  };
  struct Dropped {
    std::deque<Message> queue;
    std::deque<Received> inbox;
  };
  // What a step under the lock found to do after it. Frames die there too, outside the lock.
  struct Todo {
    bool write = false;
    bool deliver = false;
    bool disconnect = false;
    std::unique_ptr<Dropped> dropped;
  };

  void Do(const Todo& todo);
  void OnHello(Message& message, Todo* todo);
  void OnData(Message& message, Todo* todo);
  void AddCredit(uint64_t credit, Todo* todo);
  void ReturnCredit(size_t cost);
  void Abort(const absl::Status& reason, Todo* todo);
  void End(const absl::Status& reason, Todo* todo);
  void ArmTimer(Phase phase, absl::Duration delay);
  void OnTimer(Phase phase);
  bool TakeData(Message* message);
  void TakeClose(Message* message);
  void Stamp(Message* message);
  bool HasCredit() const;
  absl::Status CheckFrame(const Frame& frame) const;
  bool DeliverOne(std::unique_lock<std::mutex>& lock);
  void DeliverOpened(std::unique_lock<std::mutex>& lock);
  void DeliverFrame(std::unique_lock<std::mutex>& lock);
  void DeliverClosed(std::unique_lock<std::mutex>& lock);

  LinkSetup setup_;  // const but for `opened`, which is taken out when called
  uint64_t generation_;
  std::string peer_greeting_;

  mutable std::mutex mutex_;
  std::shared_ptr<LinkDriver> driver_;
  Phase phase_ = Phase::kHandshake;
  std::condition_variable closed_;      // phase_ became kClosed
  std::optional<absl::Status> reason_;  // of the end, once known
  bool ended_ = false;                  // nothing but on_closed is still to be called

  // Outgoing.
  bool hello_due_ = false;
  bool close_due_ = false;
  std::deque<Message> queue_;
  size_t queued_ = 0;     // costs
  size_t in_flight_ = 0;  // sent and not given back
  size_t send_window_ = 0;
  bool starved_told_ = false;

  // Incoming.
  std::deque<Received> inbox_;
  size_t held_ = 0;         // received, and not released by the user
  size_t not_granted_ = 0;  // received, and the credit not given back on the wire
  size_t to_grant_ = 0;     // released, and not given back on the wire
  bool peer_starved_ = false;
  bool grant_due_ = false;

  // Callbacks.
  LinkCallbacks callbacks_;
  bool started_ = false;
  bool opened_due_ = false;
  bool writable_due_ = false;
  bool closed_called_ = false;
  bool delivering_ = false;
  bool deliver_posted_ = false;

  LinkStats stats_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_LINK_CORE_H_
