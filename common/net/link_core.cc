#include "common/net/link_core.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {

LinkCore::LinkCore(LinkSetup setup)
    : setup_(std::move(setup)), generation_(setup_.options.generation) {}

void LinkCore::Attach(std::shared_ptr<LinkDriver> driver) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    driver_ = std::move(driver);
    hello_due_ = setup_.role == LinkRole::kDialer;
    todo.write = hello_due_;
    todo.disconnect = phase_ == Phase::kClosed;
  }
  ArmTimer(Phase::kHandshake, setup_.handshake_timeout);
  Do(todo);
}

void LinkCore::Do(const Todo& todo) {
  if (todo.write || todo.disconnect) {
    std::shared_ptr<LinkDriver> driver;
    {
      std::lock_guard lock(mutex_);
      driver = driver_;
    }
    if (driver != nullptr && todo.write) driver->WantWrite();
    if (driver != nullptr && todo.disconnect) driver->Disconnect();
  }
  if (todo.deliver) PostDeliver();
}

// ---- Outgoing ----

absl::Status LinkCore::CheckFrame(const Frame& frame) const {
  const LinkOptions& options = setup_.options;
  if (frame.header.size() > options.max_header_bytes) {
    return InvalidArgument("frame header of ", frame.header.size(), " bytes is over the limit of ",
                           options.max_header_bytes);
  }
  if (frame.payload.size() > options.max_slices) {
    return InvalidArgument("frame of ", frame.payload.size(),
                           " payload slices is over the limit of ", options.max_slices);
  }
  if (const size_t bytes = frame.payload_bytes(); bytes > options.max_payload_bytes) {
    return InvalidArgument("frame payload of ", bytes, " bytes is over the limit of ",
                           options.max_payload_bytes);
  }
  return absl::OkStatus();
}

absl::Status LinkCore::Send(Frame frame) {
  WEIR_RETURN_IF_ERROR(CheckFrame(frame));
  Message message{.kind = MessageKind::kData, .frame = std::move(frame)};
  if (setup_.payload == LinkSetup::Payload::kAsBytes) {
    message.payload_crc = ChecksumPayload(message.frame);
  }
  {
    std::lock_guard lock(mutex_);
    if (phase_ != Phase::kOpen) {
      const std::string context = StrCat("link to ", setup_.peer_address, " is closed");
      return reason_.has_value() && !reason_->ok() ? Annotate(*reason_, context)
                                                   : absl::FailedPreconditionError(context);
    }
    queued_ += FrameCost(message.frame);
    stats_.frames_sent += 1;
    stats_.payload_bytes_sent += message.frame.payload_bytes();
    queue_.push_back(std::move(message));
  }
  Do({.write = true});
  return absl::OkStatus();
}

bool LinkCore::HasCredit() const {
  return queued_ + in_flight_ < std::max<size_t>(send_window_, 1);
}

bool LinkCore::writable() const {
  std::lock_guard lock(mutex_);
  return phase_ == Phase::kOpen && HasCredit();
}

void LinkCore::Stamp(Message* message) {
  message->generation = generation_;
  message->credit = std::exchange(to_grant_, 0);
  not_granted_ -= message->credit;
  grant_due_ = false;
}

// Data goes while it has credit; a frame larger than the window waits for an empty one and goes
// alone.
bool LinkCore::TakeData(Message* message) {
  if (queue_.empty()) return false;
  const size_t cost = FrameCost(queue_.front().frame);
  if (in_flight_ == 0 || in_flight_ + cost <= send_window_) {
    *message = std::move(queue_.front());
    queue_.pop_front();
    queued_ -= cost;
    in_flight_ += cost;
    Stamp(message);
    return true;
  }
  if (starved_told_) return false;
  starved_told_ = true;
  *message = {.kind = MessageKind::kStarved};
  Stamp(message);
  return true;
}

void LinkCore::TakeClose(Message* message) {
  close_due_ = false;
  *message = CloseMessage(*reason_);
  message->generation = generation_;
}

bool LinkCore::Take(Message* message) {
  std::lock_guard lock(mutex_);
  if (phase_ == Phase::kClosed) return false;
  if (std::exchange(hello_due_, false)) {
    *message = {.kind = MessageKind::kHello,
                .generation = generation_,
                .credit = setup_.options.receive_window};
    message->frame.header = setup_.options.greeting;
    return true;
  }
  if (phase_ == Phase::kClosing) {
    if (!close_due_) return false;
    TakeClose(message);
    return true;
  }
  if (phase_ == Phase::kHandshake) return false;
  if (TakeData(message)) return true;
  if (grant_due_) {
    *message = {.kind = MessageKind::kCredit};
    Stamp(message);
    return true;
  }
  if (phase_ == Phase::kDraining && queue_.empty()) {
    phase_ = Phase::kClosing;
    reason_ = absl::OkStatus();
    TakeClose(message);
    return true;
  }
  return false;
}

// ---- Incoming ----

absl::Status LinkCore::Admit(MessageKind kind, uint64_t generation, size_t cost) {
  std::lock_guard lock(mutex_);
  if (phase_ >= Phase::kClosing || kind == MessageKind::kClose) return absl::OkStatus();
  if ((kind == MessageKind::kHello) != (phase_ == Phase::kHandshake)) {
    return absl::DataLossError(phase_ == Phase::kHandshake ? "the first frame is no hello"
                                                           : "a hello in mid stream");
  }
  const bool adopts = kind == MessageKind::kHello &&
                      (setup_.role == LinkRole::kDialer ? generation_ : generation) == 0;
  if (generation != generation_ && !adopts) {
    return absl::FailedPreconditionError(StrCat("a frame of generation ", generation,
                                                " came to an end of generation ", generation_,
                                                ": one of them dates from before a failure"));
  }
  if (kind == MessageKind::kData && not_granted_ > 0 &&
      not_granted_ + cost > setup_.options.receive_window) {
    return absl::ResourceExhaustedError(
        StrCat("a frame of ", cost, " bytes is beyond the credit of the sender (", not_granted_,
               " of ", setup_.options.receive_window, " bytes are in use)"));
  }
  return absl::OkStatus();
}

void LinkCore::OnMessage(Message message) {
  if (absl::Status admitted = Admit(message.kind, message.generation, FrameCost(message.frame));
      !admitted.ok()) {
    OnDamaged(admitted);
    return;
  }
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    if (phase_ >= Phase::kClosing) return;
    switch (message.kind) {
      case MessageKind::kHello:
        OnHello(message, &todo);
        break;
      case MessageKind::kData:
        AddCredit(message.credit, &todo);
        OnData(message, &todo);
        break;
      case MessageKind::kCredit:
        AddCredit(message.credit, &todo);
        break;
      case MessageKind::kStarved:
        AddCredit(message.credit, &todo);
        peer_starved_ = true;
        grant_due_ = grant_due_ || to_grant_ > 0;
        todo.write = todo.write || grant_due_;
        break;
      case MessageKind::kClose:
        End(ReasonOf(message), &todo);
        break;
    }
  }
  todo.deliver = false;  // the driver delivers, on the thread that suits it
  Do(todo);
}

void LinkCore::OnHello(Message& message, Todo* todo) {
  if (setup_.role == LinkRole::kDialer) {
    generation_ = message.generation;
  } else {
    hello_due_ = true;
    todo->write = true;
  }
  peer_greeting_ = std::move(message.frame.header);
  send_window_ = message.credit;
  phase_ = Phase::kOpen;
  opened_due_ = true;
}

void LinkCore::OnData(Message& message, Todo* todo) {
  const size_t cost = FrameCost(message.frame);
  held_ += cost;
  not_granted_ += cost;
  peer_starved_ = false;
  inbox_.push_back({.frame = std::move(message.frame), .cost = cost});
}

void LinkCore::AddCredit(uint64_t credit, Todo* todo) {
  if (credit == 0) return;
  const bool was_writable = HasCredit();
  in_flight_ -= std::min<size_t>(credit, in_flight_);
  starved_told_ = false;
  todo->write = todo->write || !queue_.empty();
  if (!was_writable && HasCredit()) writable_due_ = true;
}

// Credit goes back in quarters of the window, so that small frames do not double the number of
// messages; at once while the peer waits for it.
void LinkCore::ReturnCredit(size_t cost) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    held_ -= cost;
    to_grant_ += cost;
    if (to_grant_ >= setup_.options.receive_window / 4 || peer_starved_) {
      todo.write = !grant_due_ && phase_ < Phase::kClosing;
      grant_due_ = true;
    }
  }
  Do(todo);
}

bool LinkCore::reading() const {
  std::lock_guard lock(mutex_);
  return phase_ < Phase::kClosing;
}

// ---- End ----

void LinkCore::Close(absl::Status reason) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    if (phase_ >= Phase::kDraining) return;
    if (!reason.ok()) {
      Abort(reason, &todo);
    } else {
      phase_ = Phase::kDraining;
      ArmTimer(Phase::kDraining, setup_.options.linger);
      todo.write = true;
    }
  }
  Do(todo);
}

// An end with an error on this side: the peer is told, the user need not wait for that.
void LinkCore::Abort(const absl::Status& reason, Todo* todo) {
  phase_ = Phase::kClosing;
  close_due_ = true;
  reason_ = reason;
  ended_ = true;
  todo->dropped = std::make_unique<Dropped>();
  todo->dropped->queue.swap(queue_);
  todo->dropped->inbox.swap(inbox_);
  queued_ = 0;
  todo->write = true;
  todo->deliver = true;
  ArmTimer(Phase::kClosing, setup_.options.linger);
}

// An end in which nothing is left to say to the peer. Frames that came before are still delivered.
void LinkCore::End(const absl::Status& reason, Todo* todo) {
  if (!ended_) reason_ = reason;
  ended_ = true;
  phase_ = Phase::kClosed;
  closed_.notify_all();
  if (todo->dropped == nullptr) todo->dropped = std::make_unique<Dropped>();
  todo->dropped->queue.swap(queue_);
  queued_ = 0;
  todo->disconnect = true;
  todo->deliver = true;
}

void LinkCore::OnDamaged(const absl::Status& reason) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    if (phase_ >= Phase::kClosing) return;
    std::deque<Received> intact;
    intact.swap(inbox_);
    Abort(Annotate(reason, StrCat("link to ", setup_.peer_address)), &todo);
    inbox_.swap(intact);
  }
  Do(todo);
}

void LinkCore::OnCloseWritten() {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    if (phase_ != Phase::kClosing) return;
    todo.deliver = !ended_;
    ended_ = true;
    if (todo.deliver) ArmTimer(Phase::kClosing, setup_.options.linger);
  }
  Do(todo);
}

void LinkCore::OnDisconnected(const absl::Status& reason) {
  Todo todo;
  std::shared_ptr<LinkDriver> driver;
  {
    std::lock_guard lock(mutex_);
    End(Annotate(reason, StrCat("link to ", setup_.peer_address)), &todo);
    driver.swap(driver_);
  }
  Do(todo);
}

void LinkCore::Cut(const absl::Status& reason) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    End(Annotate(reason, StrCat("link to ", setup_.peer_address)), &todo);
  }
  Do(todo);
}

void LinkCore::Linger() {
  std::unique_lock lock(mutex_);
  closed_.wait_for(lock, absl::ToChronoNanoseconds(setup_.options.linger),
                   [&] { return phase_ < Phase::kDraining || phase_ == Phase::kClosed; });
}

void LinkCore::ArmTimer(Phase phase, absl::Duration delay) {
  setup_.loop->PostAfter(delay, [weak = weak_from_this(), phase] {
    if (auto core = weak.lock()) core->OnTimer(phase);
  });
}

void LinkCore::OnTimer(Phase phase) {
  Todo todo;
  {
    std::lock_guard lock(mutex_);
    // While draining, the close message may have been taken but not written.
    const bool drains = phase == Phase::kDraining && phase_ == Phase::kClosing && !ended_;
    if (phase_ != phase && !drains) return;
    const size_t left = queue_.size();
    const std::string peer = StrCat("link to ", setup_.peer_address, ": ");
    End(absl::DeadlineExceededError(
            phase == Phase::kHandshake
                ? StrCat(peer, "no hello within ", absl::FormatDuration(setup_.handshake_timeout))
                : StrCat(peer, left, " frames were not taken within ",
                         absl::FormatDuration(setup_.options.linger), " of closing")),
        &todo);
  }
  Do(todo);
}

// ---- Callbacks ----

void LinkCore::Start(LinkCallbacks callbacks) {
  {
    std::lock_guard lock(mutex_);
    callbacks_ = std::move(callbacks);
    started_ = true;
  }
  PostDeliver();
}

void LinkCore::PostDeliver() {
  {
    std::lock_guard lock(mutex_);
    if (deliver_posted_) return;
    deliver_posted_ = true;
  }
  setup_.loop->Post([self = shared_from_this()] {
    {
      std::lock_guard lock(self->mutex_);
      self->deliver_posted_ = false;
    }
    self->Deliver();
  });
}

void LinkCore::Deliver() {
  std::unique_lock lock(mutex_);
  if (delivering_) return;  // the thread that delivers sees what is new
  delivering_ = true;
  while (DeliverOne(lock)) {
  }
  delivering_ = false;
}

bool LinkCore::DeliverOne(std::unique_lock<std::mutex>& lock) {
  if (setup_.opened && (opened_due_ || ended_)) {
    DeliverOpened(lock);
  } else if (!started_ || closed_called_) {
    return false;
  } else if (!inbox_.empty()) {
    DeliverFrame(lock);
  } else if (writable_due_ && phase_ == Phase::kOpen) {
    writable_due_ = false;
    lock.unlock();
    if (callbacks_.on_writable) callbacks_.on_writable();
    lock.lock();
  } else if (ended_) {
    DeliverClosed(lock);
  } else {
    return false;
  }
  return true;
}

void LinkCore::DeliverOpened(std::unique_lock<std::mutex>& lock) {
  const OnDialed opened = std::exchange(setup_.opened, nullptr);
  const bool ok = opened_due_;
  const absl::Status reason = reason_.value_or(absl::OkStatus());
  lock.unlock();
  if (ok) {
    // The deleter lives as long as weak pointers do, which callbacks hold: it must let go of the
    // core.
    opened(std::shared_ptr<Link>(this, [self = shared_from_this()](Link*) mutable {
      std::exchange(self, nullptr)
          ->Close(absl::CancelledError("the owner of the link let go of it"));
    }));
  } else {
    opened(reason.ok() ? absl::UnavailableError("closed during the handshake") : reason);
  }
  lock.lock();
}

void LinkCore::DeliverFrame(std::unique_lock<std::mutex>& lock) {
  Received received = std::move(inbox_.front());
  inbox_.pop_front();
  stats_.frames_received += 1;
  stats_.payload_bytes_received += received.frame.payload_bytes();
  lock.unlock();
  {
    Credit credit([weak = weak_from_this(), cost = received.cost] {
      if (auto core = weak.lock()) core->ReturnCredit(cost);
    });
    if (callbacks_.on_frame) callbacks_.on_frame(std::move(received.frame), std::move(credit));
  }
  lock.lock();
}

void LinkCore::DeliverClosed(std::unique_lock<std::mutex>& lock) {
  closed_called_ = true;
  LinkCallbacks callbacks = std::exchange(callbacks_, {});
  const absl::Status reason = *reason_;
  lock.unlock();
  if (callbacks.on_closed) callbacks.on_closed(reason);
  callbacks = {};
  lock.lock();
}

LinkStats LinkCore::stats() const {
  std::lock_guard lock(mutex_);
  LinkStats stats = stats_;
  stats.unacknowledged_bytes = queued_ + in_flight_;
  stats.held_bytes = held_;
  return stats;
}

}  // namespace weir
