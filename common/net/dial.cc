#include "common/net/dial.h"

#include <algorithm>
#include <future>
#include <utility>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/status.h"

namespace weir {
namespace {

class DialSession : public std::enable_shared_from_this<DialSession> {
 public:
  DialSession(std::shared_ptr<EventLoop> loop, const std::string& address,
              const DialOptions& options, uint64_t seed, DialAttempt attempt, OnDialed done)
      : loop_(std::move(loop)),
        address_(address),
        options_(options),
        random_(seed),
        attempt_(std::move(attempt)),
        done_(std::move(done)),
        end_(loop_->clock()->Now() + options.deadline),
        backoff_(options.initial_backoff) {}

  ~DialSession() {
    if (done_) done_(absl::CancelledError(StrCat("dialing ", address_, ": the dialer was closed")));
  }

  void Try() {
    attempts_ += 1;
    const absl::Duration timeout = std::min(options_.attempt_timeout, end_ - loop_->clock()->Now());
    attempt_(timeout, [self = shared_from_this()](absl::StatusOr<std::shared_ptr<Link>> link) {
      self->OnAttempt(std::move(link));
    });
  }

 private:
  void OnAttempt(absl::StatusOr<std::shared_ptr<Link>> link) {
    if (link.ok()) {
      std::exchange(done_, nullptr)(std::move(link));
      return;
    }
    const absl::StatusCode code = link.status().code();
    const bool passing =
        code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDeadlineExceeded;
    const absl::Duration pause = backoff_ * (0.8 + 0.4 * random_.Unit());
    if (!passing || loop_->clock()->Now() + pause >= end_) {
      const std::string tries = attempts_ == 1 ? "" : StrCat(" (", attempts_, " attempts)");
      std::exchange(done_,
                    nullptr)(Annotate(link.status(), StrCat("cannot reach ", address_, tries)));
      return;
    }
    backoff_ = std::min(backoff_ * 2, options_.max_backoff);
    loop_->PostAfter(pause, [self = shared_from_this()] { self->Try(); });
  }

  const std::shared_ptr<EventLoop> loop_;
  const std::string address_;
  const DialOptions options_;
  SeededRandom random_;
  const DialAttempt attempt_;
  OnDialed done_;
  const absl::Time end_;
  absl::Duration backoff_;
  int attempts_ = 0;
};

}  // namespace

void DialWithRetries(std::shared_ptr<EventLoop> loop, const std::string& address,
                     const DialOptions& options, uint64_t seed, DialAttempt attempt,
                     OnDialed done) {
  std::make_shared<DialSession>(std::move(loop), address, options, seed, std::move(attempt),
                                std::move(done))
      ->Try();
}

absl::StatusOr<std::shared_ptr<Link>> DialAndWait(Dialer& dialer, const std::string& address,
                                                  DialOptions options) {
  auto outcome = std::make_shared<std::promise<absl::StatusOr<std::shared_ptr<Link>>>>();
  dialer.Dial(address, std::move(options), [outcome](absl::StatusOr<std::shared_ptr<Link>> link) {
    outcome->set_value(std::move(link));
  });
  return outcome->get_future().get();
}

LinkOptions AcceptPoint::options() const {
  std::lock_guard lock(mutex_);
  return options_;
}

void AcceptPoint::SetGeneration(uint64_t generation) {
  std::lock_guard lock(mutex_);
  options_.generation = generation;
}

void AcceptPoint::Close() {
  std::lock_guard lock(calling_);
  on_accept_ = nullptr;
}

OnDialed AcceptPoint::Opened() {
  return [self = shared_from_this()](absl::StatusOr<std::shared_ptr<Link>> link) {
    self->Accept(std::move(link));
  };
}

void AcceptPoint::Accept(absl::StatusOr<std::shared_ptr<Link>> link) {
  if (!link.ok()) {
    Log(LogLevel::kInfo, "connection refused", {{"reason", link.status()}});
    return;
  }
  std::lock_guard lock(calling_);
  if (const OnAccept accept = on_accept_) {
    accept(*std::move(link));
  } else {
    (*link)->Close(absl::UnavailableError("the listener is closed"));
  }
}

bool LinkSet::Add(const std::shared_ptr<LinkCore>& core) {
  {
    std::lock_guard lock(mutex_);
    if (cores_.size() >= next_sweep_) {
      std::erase_if(cores_, [](const std::weak_ptr<LinkCore>& weak) { return weak.expired(); });
      next_sweep_ = 64 + 2 * cores_.size();
    }
    if (!closed_) {
      cores_.push_back(core);
      return true;
    }
  }
  core->Cut(absl::CancelledError("the transport was shut down"));
  return false;
}

std::vector<std::shared_ptr<LinkCore>> LinkSet::Living() {
  std::vector<std::shared_ptr<LinkCore>> living;
  std::lock_guard lock(mutex_);
  for (const std::weak_ptr<LinkCore>& weak : cores_) {
    if (auto core = weak.lock()) living.push_back(std::move(core));
  }
  return living;
}

void LinkSet::Linger() {
  for (const auto& core : Living()) core->Linger();
}

void LinkSet::CutAll(const absl::Status& reason) {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (const auto& core : Living()) core->Cut(reason);
}

void LinkSet::CloseAll(const absl::Status& reason) {
  for (const auto& core : Living()) core->Close(reason);
}

}  // namespace weir
