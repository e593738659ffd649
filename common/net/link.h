// Link: an ordered, reliable, duplex connection of frames with back pressure, and how one comes to
// be.
//
// Forms: inproc_link.h (queues in one process), tcp_link.h (Asio), grpc_link.h (one bidirectional
// stream), sim_link.h (deterministic, for tests). All of them pass link_conformance_test.cc, so
// code that uses a link never asks which form it has.
//
// Ownership: a link is held by shared_ptr. Dropping the last one closes the link with CANCELLED.
//
// Threads: every method of Link, Listener, Dialer and Credit may be called from any thread and
// never blocks. Callbacks of one link never run at the same time as each other, and never on the
// stack of a method called by the user; which thread runs them is said in the header of the form.
// They must be short (hand long work to an executor) and may call any method of the link.
//
//   std::shared_ptr<Link> link = ...;
//   link->Start({
//       .on_frame = [&](Frame frame, Credit credit) { Consume(std::move(frame)); },
//       .on_writable = [&] { SendMore(); },
//       .on_closed = [&](const absl::Status& reason) { Forget(reason); },
//   });
//   if (link->writable()) WEIR_RETURN_IF_ERROR(link->Send({.header = "hello"}));
#ifndef WEIR_COMMON_NET_LINK_H_
#define WEIR_COMMON_NET_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/net/frame.h"

namespace weir {

// The right of the sender to put as many bytes again on the link. The receiver keeps it while the
// frame occupies memory; destroying it (or Release) gives the credit back. It may outlive the link.
class Credit {
 public:
  Credit() = default;
  explicit Credit(std::function<void()> release) : release_(std::move(release)) {}
  Credit(Credit&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
  Credit& operator=(Credit&& other) noexcept {
    if (this != &other) {
      Release();
      release_ = std::exchange(other.release_, nullptr);
    }
    return *this;
  }
  ~Credit() { Release(); }

  void Release() {
    if (auto release = std::exchange(release_, nullptr)) release();
  }

 private:
  std::function<void()> release_;
};

struct LinkCallbacks {
  // One frame, in the order sent. Let go of `credit` when the frame no longer occupies memory.
  std::function<void(Frame frame, Credit credit)> on_frame;
  // writable() went from false to true.
  std::function<void()> on_writable;
  // Exactly once and last; the callbacks are destroyed after it. OK: one side closed with OK. The
  // code and message that one side gave to Close reach the other. UNAVAILABLE: the peer or the
  // connection is gone. DATA_LOSS: damaged bytes. FAILED_PRECONDITION: another generation or
  // version.
  std::function<void(const absl::Status& reason)> on_closed;
};

struct LinkOptions {
  // Fences off what comes from before a failure: both ends must have the same number, and every
  // frame carries it. 0 when dialing takes over the number of the listener.
  uint64_t generation = 0;
  // Shown to the other end as peer_greeting() before any frame: who is calling.
  std::string greeting;
  // How many bytes (FrameCost) the peer may have in flight to this end; a larger frame passes
  // alone.
  size_t receive_window = size_t{64} << 20;
  // Limits on what the peer may send in one frame, checked before memory is taken.
  size_t max_payload_bytes = size_t{4} << 30;
  size_t max_header_bytes = size_t{16} << 20;
  size_t max_slices = size_t{1} << 16;
  PayloadAllocator allocate = AllocateHeap;
  // Close(OK) sends what is queued, for at most this long.
  absl::Duration linger = absl::Seconds(5);
};

struct DialOptions {
  LinkOptions link;
  absl::Duration attempt_timeout = absl::Seconds(5);  // one attempt, handshake included
  absl::Duration deadline = absl::Seconds(30);        // all attempts together
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(1);
};

struct LinkStats {
  uint64_t frames_sent = 0;      // accepted by Send
  uint64_t frames_received = 0;  // given to on_frame
  uint64_t payload_bytes_sent = 0;
  uint64_t payload_bytes_received = 0;
  size_t unacknowledged_bytes = 0;  // sent or queued, and not consumed by the peer yet
  size_t held_bytes = 0;            // received, credit not given back yet
};

class Link {
 public:
  virtual ~Link() = default;

  // Begins the callbacks; frames that came before wait for it. REQUIRES: not called before.
  virtual void Start(LinkCallbacks callbacks) = 0;

  // Queues a frame behind those already queued. Accepts whatever the credit is: who keeps sending
  // while writable() is false grows the queue. Returns: an error (the reason of the end) once the
  // link is closed by either side, and then the frame is dropped.
  virtual absl::Status Send(Frame frame) = 0;

  // Whether the peer has credit left for what is queued and in flight.
  virtual bool writable() const = 0;

  // Ends the link for both sides. OK: after the frames queued so far. Error: at once, dropping
  // them. Later calls do nothing.
  virtual void Close(absl::Status reason) = 0;

  virtual uint64_t generation() const = 0;
  virtual const std::string& peer_address() const = 0;
  virtual const std::string& peer_greeting() const = 0;
  virtual LinkStats stats() const = 0;
};

// Called on a callback thread for each link that completed its handshake.
using OnAccept = std::function<void(std::shared_ptr<Link> link)>;
// Called exactly once, on a callback thread. The error names the address and the last failure.
using OnDialed = std::function<void(absl::StatusOr<std::shared_ptr<Link>> link)>;

// Accepts links until closed or destroyed. Links that were accepted live on.
class Listener {
 public:
  virtual ~Listener() = default;

  // Where to dial: with the port number that was really bound.
  virtual const std::string& address() const = 0;

  // Links accepted from now on belong to this generation; those of another are refused at the
  // handshake.
  virtual void SetGeneration(uint64_t generation) = 0;

  // After it returns, the accept callback is not running (unless this is called from it) and never
  // will.
  virtual void Close() = 0;
};

// Makes links to addresses; retries with back-off until the deadline.
class Dialer {
 public:
  virtual ~Dialer() = default;
  virtual void Dial(const std::string& address, DialOptions options, OnDialed done) = 0;
};

// Dials and waits for the outcome. REQUIRES: not called on a callback thread, nor on a simulated
// dialer.
absl::StatusOr<std::shared_ptr<Link>> DialAndWait(Dialer& dialer, const std::string& address,
                                                  DialOptions options);

}  // namespace weir

#endif  // WEIR_COMMON_NET_LINK_H_
