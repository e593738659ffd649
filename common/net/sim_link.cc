#include "common/net/sim_link.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/decoder.h"
#include "common/net/dial.h"
#include "common/net/link_core.h"

namespace weir {
namespace {

std::string HostOf(const std::string& address) { return address.substr(0, address.find(':')); }

std::pair<std::string, std::string> Ordered(std::string a, std::string b) {
  if (b < a) a.swap(b);
  return {std::move(a), std::move(b)};
}

std::string ToBytes(const Message& message) {
  std::string bytes = EncodeHead(message);
  for (const Slice& slice : message.frame.payload) bytes.append(slice.view());
  return bytes;
}

}  // namespace

class SimNetwork::State : public std::enable_shared_from_this<SimNetwork::State> {
 public:
  State(SimLoop* loop, SimOptions options)
      : loop_(std::shared_ptr<void>(), loop), options_(options), random_(options.seed) {}

  const std::shared_ptr<SimLoop>& loop() const { return loop_; }
  const SimOptions& options() const { return options_; }
  SeededRandom& random() { return random_; }
  LinkSet& links() { return links_; }
  std::map<std::string, std::shared_ptr<AcceptPoint>>& points() { return points_; }

  absl::Duration Delay() {
    const absl::Duration delay =
        options_.min_delay + (options_.max_delay - options_.min_delay) * random_.Unit();
    return absl::Floor(delay, absl::Nanoseconds(1));  // what the clock can show
  }
  bool partitioned(const std::string& host, const std::string& other) const {
    return partitions_.count(Ordered(host, other)) > 0;
  }
  std::set<std::pair<std::string, std::string>>& partitions() { return partitions_; }

  void Connect(const std::string& from, const std::string& address, const LinkOptions& options,
               absl::Duration timeout, OnDialed done);
  std::vector<std::shared_ptr<Connection>> Connections();

 private:
  const std::shared_ptr<SimLoop> loop_;  // owns nothing
  const SimOptions options_;
  SeededRandom random_;
  LinkSet links_;
  std::map<std::string, std::shared_ptr<AcceptPoint>> points_;
  std::set<std::pair<std::string, std::string>> partitions_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

// Both directions of one connection. Kept alive by the drivers of its ends.
class SimNetwork::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::weak_ptr<State> state, std::string from, std::string to)
      : state_(std::move(state)), hosts_{std::move(from), std::move(to)} {}

  const std::array<std::string, 2>& hosts() const { return hosts_; }

  void SetEnd(int side, const std::shared_ptr<LinkCore>& core, const LinkOptions& options) {
    Side& end = sides_[side];
    end.core = core;
    end.decoder = std::make_unique<Decoder>(
        options,
        [core = core.get()](MessageKind kind, uint64_t generation, size_t cost) {
          return core->Admit(kind, generation, cost);
        },
        [core = core.get()](Message message) { core->OnMessage(std::move(message)); });
  }

  // Messages that the core of `side` has, on their way to the other.
  void Write(int side) {
    const std::shared_ptr<LinkCore> core = sides_[side].core;
    if (core == nullptr || cut_) return;
    Message message;
    while (core->Take(&message)) {
      auto state = state_.lock();
      if (state == nullptr) return;
      const bool closes = message.kind == MessageKind::kClose;
      if (state->random().Chance(state->options().cut_chance)) {
        Cut();
        return;
      }
      SendInPieces(*state, 1 - side, ToBytes(std::exchange(message, {})));
      if (closes) core->OnCloseWritten();
    }
  }

  // The end of `side` is closed: the other sees that behind what was sent.
  void Shut(int side) {
    if (sides_[side].core == nullptr) return;
    if (auto state = state_.lock(); state != nullptr && !cut_) Enqueue(*state, 1 - side, "");
    Release(side, absl::UnavailableError("this end was cut off"));
  }

  void Cut() {
    if (std::exchange(cut_, true)) return;
    auto state = state_.lock();
    if (state == nullptr) return;
    for (int side : {0, 1}) {
      sides_[side].arriving.clear();
      state->loop()->PostAfter(state->Delay(), [self = shared_from_this(), side] {
        self->Release(side, absl::UnavailableError("the connection was cut"));
      });
    }
  }

  // Gives both ends what arrived while their hosts were apart.
  void PostArrive() {
    auto state = state_.lock();
    for (int side : {0, 1}) {
      state->loop()->Post([self = shared_from_this(), side] { self->Arrive(side); });
    }
  }

 private:
  struct Piece {
    absl::Time when;
    std::string bytes;  // empty: the end of the stream
  };
  struct Side {
    std::shared_ptr<LinkCore> core;  // null once it is gone
    std::unique_ptr<Decoder> decoder;
    std::deque<Piece> arriving;
  };

  void SendInPieces(State& state, int to, const std::string& bytes) {
    const size_t first = 1 + state.random().Below(bytes.size());
    Enqueue(state, to, bytes.substr(0, first));
    if (first < bytes.size()) Enqueue(state, to, bytes.substr(first));
  }

  void Enqueue(State& state, int to, std::string bytes) {
    std::deque<Piece>& arriving = sides_[to].arriving;
    absl::Time when = state.loop()->clock()->Now() + state.Delay();
    if (!arriving.empty()) when = std::max(when, arriving.back().when);
    arriving.push_back({when, std::move(bytes)});
    state.loop()->PostAt(when, [self = shared_from_this(), to] { self->Arrive(to); });
  }

  void Arrive(int side) {
    auto state = state_.lock();
    if (state == nullptr || state->partitioned(hosts_[0], hosts_[1])) return;
    Side& end = sides_[side];
    while (!end.arriving.empty() && end.arriving.front().when <= state->loop()->clock()->Now()) {
      const std::string bytes = std::move(end.arriving.front().bytes);
      end.arriving.pop_front();
      TakeBytes(end, bytes);
    }
  }

  static void TakeBytes(Side& end, const std::string& bytes) {
    const std::shared_ptr<LinkCore> core = end.core;
    if (core == nullptr) return;
    if (bytes.empty()) {
      core->Cut(absl::UnavailableError("the peer closed the connection"));
    } else if (core->reading()) {
      if (absl::Status status = end.decoder->Feed(bytes); !status.ok()) core->OnDamaged(status);
    }
    core->Deliver();
  }

  void Release(int side, const absl::Status& reason) {
    if (auto core = std::exchange(sides_[side].core, nullptr)) core->OnDisconnected(reason);
  }

  const std::weak_ptr<State> state_;
  const std::array<std::string, 2> hosts_;
  std::array<Side, 2> sides_;
  bool cut_ = false;
};

class SimNetwork::End : public LinkDriver {
 public:
  End(std::shared_ptr<Connection> connection, int side)
      : connection_(std::move(connection)), side_(side) {}
  void WantWrite() override {
    if (std::exchange(writing_, true)) return;
    connection_->Write(side_);
    writing_ = false;
  }
  void Disconnect() override { connection_->Shut(side_); }

 private:
  const std::shared_ptr<Connection> connection_;
  const int side_;
  bool writing_ = false;
};

void SimNetwork::State::Connect(const std::string& from, const std::string& address,
                                const LinkOptions& options, absl::Duration timeout, OnDialed done) {
  const std::string to = HostOf(address);
  const auto found = points_.find(address);
  if (found == points_.end() && !partitioned(from, to)) {
    loop_->PostAfter(Delay(), [done = std::move(done), address] {
      done(absl::UnavailableError(StrCat("nobody listens on ", address)));
    });
    return;
  }
  auto dialer = std::make_shared<LinkCore>(LinkSetup{.role = LinkRole::kDialer,
                                                     .options = options,
                                                     .peer_address = address,
                                                     .handshake_timeout = timeout,
                                                     .loop = loop_,
                                                     .opened = std::move(done)});
  if (!links_.Add(dialer)) return;
  if (found == points_.end()) {
    dialer->Attach(nullptr);  // nobody answers: the handshake times out
    return;
  }
  const LinkOptions listener_options = found->second->options();
  auto listener = std::make_shared<LinkCore>(LinkSetup{.role = LinkRole::kListener,
                                                       .options = listener_options,
                                                       .peer_address = from,
                                                       .handshake_timeout = timeout,
                                                       .loop = loop_,
                                                       .opened = found->second->Opened()});
  if (!links_.Add(listener)) return;
  auto connection = std::make_shared<Connection>(shared_from_this(), from, to);
  connection->SetEnd(0, dialer, options);
  connection->SetEnd(1, listener, listener_options);
  std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
  connections_.push_back(connection);
  listener->Attach(std::make_shared<End>(connection, 1));
  dialer->Attach(std::make_shared<End>(connection, 0));
}

std::vector<std::shared_ptr<SimNetwork::Connection>> SimNetwork::State::Connections() {
  std::vector<std::shared_ptr<Connection>> living;
  for (const std::weak_ptr<Connection>& weak : connections_) {
    if (auto connection = weak.lock()) living.push_back(std::move(connection));
  }
  return living;
}

class SimNetwork::NamedListener : public Listener {
 public:
  NamedListener(std::weak_ptr<State> state, std::string address, std::shared_ptr<AcceptPoint> point)
      : state_(std::move(state)), address_(std::move(address)), point_(std::move(point)) {}
  ~NamedListener() override { Close(); }

  const std::string& address() const override { return address_; }
  void SetGeneration(uint64_t generation) override { point_->SetGeneration(generation); }
  void Close() override {
    if (std::exchange(closed_, true)) return;
    if (auto state = state_.lock()) state->points().erase(address_);
    point_->Close();
  }

 private:
  const std::weak_ptr<State> state_;
  const std::string address_;
  const std::shared_ptr<AcceptPoint> point_;
  bool closed_ = false;
};

class SimNetwork::HostDialer : public Dialer {
 public:
  HostDialer(std::shared_ptr<State> state, std::string host)
      : state_(std::move(state)), host_(std::move(host)) {}

  void Dial(const std::string& address, DialOptions options, OnDialed done) override {
    std::weak_ptr<State> weak = state_;
    DialWithRetries(
        state_->loop(), address, options, state_->random().Next(),
        [weak, address, host = host_, link = options.link](absl::Duration timeout,
                                                           OnDialed attempt_done) {
          if (auto state = weak.lock()) {
            state->Connect(host, address, link, timeout, std::move(attempt_done));
          }
        },
        std::move(done));
  }

 private:
  const std::shared_ptr<State> state_;
  const std::string host_;
};

SimNetwork::SimNetwork(SimLoop* loop, SimOptions options)
    : state_(std::make_shared<State>(loop, options)) {}

SimNetwork::~SimNetwork() {
  state_->links().CutAll(absl::UnavailableError("the simulated network was shut down"));
}

absl::StatusOr<std::unique_ptr<Listener>> SimNetwork::Listen(const std::string& address,
                                                             LinkOptions options,
                                                             OnAccept on_accept) {
  auto point = std::make_shared<AcceptPoint>(std::move(options), std::move(on_accept));
  if (!state_->points().try_emplace(address, point).second) {
    return absl::AlreadyExistsError(
        StrCat("cannot listen on ", address, ": a listener has that address"));
  }
  return std::make_unique<NamedListener>(state_, address, std::move(point));
}

std::unique_ptr<Dialer> SimNetwork::MakeDialer(const std::string& host) {
  return std::make_unique<HostDialer>(state_, host);
}

void SimNetwork::Partition(const std::string& host, const std::string& other) {
  state_->partitions().insert(Ordered(host, other));
}

void SimNetwork::Heal(const std::string& host, const std::string& other) {
  state_->partitions().erase(Ordered(host, other));
  for (const auto& connection : state_->Connections()) connection->PostArrive();
}

void SimNetwork::CutHost(const std::string& host) {
  for (const auto& connection : state_->Connections()) {
    if (connection->hosts()[0] == host || connection->hosts()[1] == host) connection->Cut();
  }
}

}  // namespace weir
