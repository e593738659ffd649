#include "common/net/inproc_link.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/decoder.h"
#include "common/net/dial.h"
#include "common/net/link_core.h"
#include "common/net/write_turn.h"

namespace weir {

// One end of a pair: takes messages from its core and gives them to the core of the other end.
class InprocNetwork::Endpoint : public LinkDriver {
 public:
  // `decoder`: set if messages pass as bytes.
  Endpoint(std::shared_ptr<LinkCore> core, std::shared_ptr<LinkCore> peer,
           std::unique_ptr<Decoder> decoder)
      : core_(std::move(core)), peer_(std::move(peer)), decoder_(std::move(decoder)) {}

  void WantWrite() override {
    if (!turn_.Enter()) return;
    do {
      const auto [core, peer] = ends();
      if (core == nullptr) return;  // keeps the turn: nothing is to be written any more
      Message message;
      while (core->Take(&message)) Pass(*core, *peer, std::exchange(message, {}));
    } while (!turn_.Leave());
  }

  void Disconnect() override {
    std::shared_ptr<LinkCore> core, peer;
    {
      std::lock_guard lock(mutex_);
      core.swap(core_);
      peer.swap(peer_);
    }
    if (core == nullptr) return;
    peer->OnDisconnected(absl::UnavailableError("the other end is gone"));
    core->OnDisconnected(absl::UnavailableError("this end was cut off"));
  }

 private:
  std::pair<std::shared_ptr<LinkCore>, std::shared_ptr<LinkCore>> ends() {
    std::lock_guard lock(mutex_);
    return {core_, peer_};
  }

  void Pass(LinkCore& core, LinkCore& peer, Message message) {
    // The peer disconnects when it reads the close message, so the core hears of it first.
    if (message.kind == MessageKind::kClose) core.OnCloseWritten();
    if (decoder_ == nullptr) {
      peer.OnMessage(std::move(message));
    } else if (absl::Status status = PassBytes(message); !status.ok()) {
      peer.OnDamaged(status);
    }
    peer.PostDeliver();
  }

  absl::Status PassBytes(const Message& message) {
    WEIR_RETURN_IF_ERROR(decoder_->Feed(EncodeHead(message)));
    for (const Slice& slice : message.frame.payload) {
      WEIR_RETURN_IF_ERROR(decoder_->Feed(slice.view()));
    }
    return absl::OkStatus();
  }

  std::mutex mutex_;  // guards the two below
  std::shared_ptr<LinkCore> core_;
  std::shared_ptr<LinkCore> peer_;
  WriteTurn turn_;
  const std::unique_ptr<Decoder> decoder_;  // used by who has the turn
};

class InprocNetwork::Hub : public std::enable_shared_from_this<Hub> {
 public:
  Hub(std::shared_ptr<EventLoop> loop, Payload payload)
      : loop_(std::move(loop)), payload_(payload) {}

  const std::shared_ptr<EventLoop>& loop() const { return loop_; }
  LinkSet& links() { return links_; }

  absl::Status Register(const std::string& address, std::shared_ptr<AcceptPoint> point) {
    std::lock_guard lock(mutex_);
    if (points_.try_emplace(address, std::move(point)).second) return absl::OkStatus();
    return absl::AlreadyExistsError(
        StrCat("cannot listen on ", address, ": a listener of this process has that name"));
  }

  void Unregister(const std::string& address) {
    std::lock_guard lock(mutex_);
    points_.erase(address);
  }

  void Connect(const std::string& address, const LinkOptions& options, absl::Duration timeout,
               OnDialed done) {
    std::shared_ptr<AcceptPoint> point;
    {
      std::lock_guard lock(mutex_);
      if (auto found = points_.find(address); found != points_.end()) point = found->second;
    }
    if (point == nullptr) {
      loop_->Post([done = std::move(done), address] {
        done(absl::UnavailableError(StrCat("no listener named ", address, " in this process")));
      });
      return;
    }
    auto dialer = MakeCore(LinkRole::kDialer, options, address, timeout, std::move(done));
    auto listener = MakeCore(LinkRole::kListener, point->options(), StrCat("inproc:", address),
                             timeout, point->Opened());
    if (!links_.Add(dialer) || !links_.Add(listener)) return;
    listener->Attach(MakeEndpoint(listener, dialer, options));
    dialer->Attach(MakeEndpoint(dialer, listener, point->options()));
  }

 private:
  std::shared_ptr<LinkCore> MakeCore(LinkRole role, const LinkOptions& options,
                                     const std::string& peer, absl::Duration timeout,
                                     OnDialed opened) {
    auto core = std::make_shared<LinkCore>(
        LinkSetup{.role = role,
                  .options = options,
                  .peer_address = peer,
                  .handshake_timeout = timeout,
                  .payload = payload_ == Payload::kAsBytes ? LinkSetup::Payload::kAsBytes
                                                           : LinkSetup::Payload::kByReference,
                  .loop = loop_,
                  .opened = std::move(opened)});
    return core;
  }

  std::shared_ptr<Endpoint> MakeEndpoint(const std::shared_ptr<LinkCore>& core,
                                         const std::shared_ptr<LinkCore>& peer,
                                         const LinkOptions& peer_options) {
    std::unique_ptr<Decoder> decoder;
    if (payload_ == Payload::kAsBytes) {
      std::weak_ptr<LinkCore> weak = peer;  // the decoder lives as long as the endpoint
      decoder = std::make_unique<Decoder>(
          peer_options,
          [weak](MessageKind kind, uint64_t generation, size_t cost) {
            auto peer = weak.lock();
            return peer == nullptr ? absl::OkStatus() : peer->Admit(kind, generation, cost);
          },
          [weak](Message message) {
            if (auto peer = weak.lock()) peer->OnMessage(std::move(message));
          });
    }
    return std::make_shared<Endpoint>(core, peer, std::move(decoder));
  }

  const std::shared_ptr<EventLoop> loop_;
  const Payload payload_;
  LinkSet links_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<AcceptPoint>> points_;
};

class InprocNetwork::NamedListener : public Listener {
 public:
  NamedListener(std::shared_ptr<Hub> hub, std::string address, std::shared_ptr<AcceptPoint> point)
      : hub_(std::move(hub)), address_(std::move(address)), point_(std::move(point)) {}
  ~NamedListener() override { Close(); }

  const std::string& address() const override { return address_; }
  void SetGeneration(uint64_t generation) override { point_->SetGeneration(generation); }
  void Close() override {
    if (closed_.exchange(true)) return;
    hub_->Unregister(address_);
    point_->Close();
  }

 private:
  const std::shared_ptr<Hub> hub_;
  const std::string address_;
  const std::shared_ptr<AcceptPoint> point_;
  std::atomic<bool> closed_{false};
};

InprocNetwork::InprocNetwork(std::shared_ptr<EventLoop> loop, Payload payload)
    : hub_(std::make_shared<Hub>(
          loop != nullptr ? std::move(loop)
                          : std::shared_ptr<EventLoop>(MakeThreadEventLoop("weir-inproc")),
          payload)) {}

InprocNetwork::~InprocNetwork() {
  hub_->links().Linger();
  hub_->links().CutAll(absl::UnavailableError("the in-process network was shut down"));
}

absl::StatusOr<std::unique_ptr<Listener>> InprocNetwork::Listen(const std::string& address,
                                                                LinkOptions options,
                                                                OnAccept on_accept) {
  auto point = std::make_shared<AcceptPoint>(std::move(options), std::move(on_accept));
  WEIR_RETURN_IF_ERROR(hub_->Register(address, point));
  return std::make_unique<NamedListener>(hub_, address, std::move(point));
}

void InprocNetwork::Dial(const std::string& address, DialOptions options, OnDialed done) {
  DialWithRetries(
      hub_->loop(), address, options, SystemSeed(),
      [hub = hub_, address, link = options.link](absl::Duration timeout, OnDialed attempt_done) {
        hub->Connect(address, link, timeout, std::move(attempt_done));
      },
      std::move(done));
}

}  // namespace weir
