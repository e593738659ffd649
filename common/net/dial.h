// What the forms of a link share in dialing and accepting. Thread-safe.
#ifndef WEIR_COMMON_NET_DIAL_H_
#define WEIR_COMMON_NET_DIAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/net/event_loop.h"
#include "common/net/link.h"
#include "common/net/link_core.h"

namespace weir {

// Makes one attempt that ends within `timeout`.
using DialAttempt = std::function<void(absl::Duration timeout, OnDialed done)>;

// Repeats `attempt` while it fails with UNAVAILABLE or DEADLINE_EXCEEDED, with growing pauses that
// `seed` varies, until the deadline. Calls `done` once; with CANCELLED if the loop ends first.
void DialWithRetries(std::shared_ptr<EventLoop> loop, const std::string& address,
                     const DialOptions& options, uint64_t seed, DialAttempt attempt, OnDialed done);

// The accepting side of a listener: outlives it in the links whose handshake is under way.
class AcceptPoint : public std::enable_shared_from_this<AcceptPoint> {
 public:
  AcceptPoint(LinkOptions options, OnAccept on_accept)
      : options_(std::move(options)), on_accept_(std::move(on_accept)) {}

  // Returns: the options of a link that is accepted now.
  LinkOptions options() const;
  void SetGeneration(uint64_t generation);
  // As Listener::Close.
  void Close();
  // Returns: what a core of role kListener calls when its handshake is over.
  OnDialed Opened();

 private:
  void Accept(absl::StatusOr<std::shared_ptr<Link>> link);

  mutable std::mutex mutex_;
  LinkOptions options_;
  std::recursive_mutex calling_;  // held while on_accept_ runs
  OnAccept on_accept_;
};

// The links that a transport made, so that it can end them.
class LinkSet {
 public:
  // Returns: false, with the link ended by CANCELLED, after CutAll.
  bool Add(const std::shared_ptr<LinkCore>& core);
  // Gives those that were closed the time to say so: LinkCore::Linger of each.
  void Linger();
  // Cuts those there are, and whatever is added later.
  void CutAll(const absl::Status& reason);
  void CloseAll(const absl::Status& reason);

 private:
  std::vector<std::shared_ptr<LinkCore>> Living();

  std::mutex mutex_;
  bool closed_ = false;
  size_t next_sweep_ = 64;
  std::vector<std::weak_ptr<LinkCore>> cores_;
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_DIAL_H_
