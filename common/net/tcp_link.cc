#include "common/net/tcp_link.h"

#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/address.h"
#include "common/net/asio_loop.h"
#include "common/net/dial.h"
#include "common/net/tcp_connection.h"

namespace weir {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using local = asio::local::stream_protocol;
using Socket = TcpConnection::Socket;
using boost::system::error_code;

std::string ToText(const tcp::endpoint& endpoint) {
  return HostPort{endpoint.address().to_string(), endpoint.port()}.ToString();
}

void SetOption(tcp::socket& socket, int level, int name, int value) {
  setsockopt(socket.native_handle(), level, name, &value, sizeof(value));
}

// Where programs of this machine that dial the port are heard too. In the abstract namespace: it
// belongs to the network of the port and is gone with its socket.
local::endpoint LocalEndpoint(uint16_t port) {
  return local::endpoint(std::string(1, '\0') + StrCat("weir-tcp-", port));
}

// Whether the other end is a program of this user, or of root: anybody could have taken the name.
bool IsTrusted(local::socket& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

bool IsLoopback(const std::string& host) { return host == "127.0.0.1" || host == "localhost"; }

// The host of a listener that programs reach at 127.0.0.1.
bool CoversLoopback(const std::string& host) { return IsLoopback(host) || host == "0.0.0.0"; }

void Configure(tcp::socket& socket, absl::Duration keepalive) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  // Half of the time in silence, the other half in four probes; unacknowledged data has all of it.
  const int seconds = static_cast<int>(std::max<int64_t>(absl::ToInt64Seconds(keepalive), 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(seconds / 2, 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / 8, 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
}

// Room for a large frame or the best part of one: with less, each end sleeps and is woken several
// times for each frame.
Socket Configured(local::socket socket) {
  constexpr int kSendBytes = 1 << 20;
  error_code ignored;
  socket.set_option(asio::socket_base::send_buffer_size(kSendBytes), ignored);
  return Socket(std::move(socket));
}

// What a listener has open.
class AnyAcceptor {
 public:
  virtual ~AnyAcceptor() = default;
  // Lets go of the context. On the io thread, as all once it accepts.
  virtual void Close() = 0;
};

// A listening socket. Belongs to the io thread once it accepts.
template <class Protocol>
class Acceptor : public AnyAcceptor, public std::enable_shared_from_this<Acceptor<Protocol>> {
 public:
  using Accepted = std::function<void(typename Protocol::socket socket)>;

  Acceptor(asio::io_context& context, Accepted accepted)
      : sockets_(std::in_place, context), accepted_(std::move(accepted)) {}

  error_code Open(const typename Protocol::endpoint& endpoint) {
    auto& socket = sockets_->listening;
    error_code error;
    socket.open(endpoint.protocol(), error);
    if (!error) socket.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) socket.bind(endpoint, error);
    if (!error) socket.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  typename Protocol::endpoint endpoint() const {
    error_code ignored;
    return sockets_->listening.local_endpoint(ignored);
  }

  void AcceptNext() {
    if (!sockets_.has_value()) return;
    sockets_->listening.async_accept(
        [self = this->shared_from_this()](const error_code& error,
                                          typename Protocol::socket socket) {
          self->OnAccepted(error, std::move(socket));
        });
  }

  void Close() override { sockets_.reset(); }

 private:
  struct Sockets {
    explicit Sockets(asio::io_context& context) : listening(context), retry(context) {}
    typename Protocol::acceptor listening;
    asio::steady_timer retry;
  };

  void OnAccepted(const error_code& error, typename Protocol::socket socket) {
    if (!sockets_.has_value()) return;
    if (!error) {
      accepted_(std::move(socket));
      AcceptNext();
      return;
    }
    // Out of descriptors, most likely: the connection stays in the backlog until there is one.
    Log(LogLevel::kWarning, "cannot accept a connection", {{"reason", error.message()}});
    sockets_->retry.expires_after(std::chrono::milliseconds(100));
    sockets_->retry.async_wait([self = this->shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->AcceptNext();
    });
  }

  std::optional<Sockets> sockets_;
  const Accepted accepted_;
};

}  // namespace

class TcpTransport::State {
 public:
  explicit State(const TcpOptions& options) : options_(options) {
    if (options_.context == nullptr) {
      owned_context_ = std::make_unique<asio::io_context>(1);
      options_.context = owned_context_.get();
      thread_ = std::thread([context = owned_context_.get()] {
        auto work = asio::make_work_guard(*context);
        context->run();
      });
      pthread_setname_np(thread_.native_handle(), "weir-tcp");
    }
    loop_ = std::make_shared<AsioLoop>(options_.context);
  }

  void Shutdown() {
    const absl::Status reason = absl::UnavailableError("the TCP transport was shut down");
    if (owned_context_ != nullptr) links_.Linger();
    links_.CutAll(reason);
    CloseAcceptors();
    if (owned_context_ == nullptr) return;
    loop_->Post([context = owned_context_.get()] { context->stop(); });
    thread_.join();
    // What was left runs here: sockets to close, last callbacks.
    owned_context_->restart();
    owned_context_->poll();
    loop_->Detach();
    owned_context_.reset();
  }

  const std::shared_ptr<AsioLoop>& loop() const { return loop_; }
  void Add(std::weak_ptr<AnyAcceptor> acceptor) {
    std::lock_guard lock(mutex_);
    acceptors_.push_back(std::move(acceptor));
  }
  asio::io_context& context() { return *options_.context; }
  absl::Duration keepalive() const { return options_.keepalive; }
  bool uses_local_sockets() const {
    return options_.loopback == TcpOptions::Loopback::kLocalSocket;
  }

  // REQUIRES: on the io thread.
  void Begin(tcp::socket socket, LinkSetup setup) {
    Configure(socket, options_.keepalive);
    Begin(Socket(std::move(socket)), std::move(setup));
  }
  void Begin(Socket socket, LinkSetup setup) {
    error_code ignored;
    socket.native_non_blocking(true, ignored);
    setup.loop = loop_;
    const LinkOptions link_options = setup.options;
    auto core = std::make_shared<LinkCore>(std::move(setup));
    if (!links_.Add(core)) return;
    std::make_shared<TcpConnection>(std::move(socket), core, link_options)->Begin();
  }

 private:
  void CloseAcceptors() {
    std::lock_guard lock(mutex_);
    for (const std::weak_ptr<AnyAcceptor>& weak : acceptors_) {
      auto acceptor = weak.lock();
      if (acceptor != nullptr) loop_->Post([acceptor] { acceptor->Close(); });
    }
  }

  TcpOptions options_;
  std::unique_ptr<asio::io_context> owned_context_;  // null: the caller's
  std::thread thread_;
  std::shared_ptr<AsioLoop> loop_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<AnyAcceptor>> acceptors_;  // guarded by mutex_
  LinkSet links_;
};

namespace {

// One attempt to connect: resolve, connect, hand the socket on.
class Connecting : public std::enable_shared_from_this<Connecting> {
 public:
  using Connected = std::function<void(Socket socket, absl::Duration left)>;

  Connecting(asio::io_context& context, HostPort target, absl::Duration timeout,
             absl::Duration keepalive, Connected connected, OnDialed failed)
      : context_(context),
        keepalive_(keepalive),
        resolver_(context),
        socket_(context),
        timer_(context),
        target_(std::move(target)),
        end_(RealClock()->Now() + timeout),
        timeout_(timeout),
        connected_(std::move(connected)),
        failed_(std::move(failed)) {}

  // Takes the local socket if there is one. REQUIRES: on the io thread, here and below.
  void BeginLocally() {
    local::socket socket(context_);
    error_code error;
    socket.connect(LocalEndpoint(target_.port), error);
    if (error || !IsTrusted(socket)) return Begin();
    connected_(Configured(std::move(socket)), end_ - RealClock()->Now());
  }

  void Begin() {
    timer_.expires_after(absl::ToChronoNanoseconds(timeout_));
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->OnTimeout();
    });
    resolver_.async_resolve(
        target_.host, std::to_string(target_.port), tcp::resolver::numeric_service,
        [self = shared_from_this()](const error_code& error, tcp::resolver::results_type found) {
          self->OnResolved(error, std::move(found));
        });
  }

 private:
  void OnTimeout() {
    timed_out_ = true;
    error_code ignored;
    resolver_.cancel();
    socket_.close(ignored);
  }

  void OnResolved(const error_code& error, tcp::resolver::results_type found) {
    if (timed_out_ || error) {
      Fail(StrCat("host ", target_.host, " cannot be resolved: ", error.message()));
      return;
    }
    asio::async_connect(socket_, found,
                        [self = shared_from_this()](const error_code& error, const tcp::endpoint&) {
                          self->OnConnected(error);
                        });
  }

  void OnConnected(const error_code& error) {
    if (timed_out_ || error) {
      Fail(error.message());
      return;
    }
    timer_.cancel();
    Configure(socket_, keepalive_);
    connected_(Socket(std::move(socket_)), end_ - RealClock()->Now());
  }

  void Fail(const std::string& why) {
    timer_.cancel();
    if (timed_out_) {
      failed_(absl::DeadlineExceededError(
          StrCat("no connection within ", absl::FormatDuration(timeout_))));
    } else {
      failed_(absl::UnavailableError(why));
    }
  }

  asio::io_context& context_;
  const absl::Duration keepalive_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  const HostPort target_;
  const absl::Time end_;
  const absl::Duration timeout_;
  const Connected connected_;
  const OnDialed failed_;
  bool timed_out_ = false;
};

class TcpListener : public Listener {
 public:
  TcpListener(std::shared_ptr<EventLoop> loop, std::string address,
              std::shared_ptr<AcceptPoint> point,
              std::vector<std::shared_ptr<AnyAcceptor>> acceptors)
      : loop_(std::move(loop)),
        address_(std::move(address)),
        point_(std::move(point)),
        acceptors_(std::move(acceptors)) {}
  ~TcpListener() override { Close(); }

  const std::string& address() const override { return address_; }
  void SetGeneration(uint64_t generation) override { point_->SetGeneration(generation); }
  void Close() override {
    for (const auto& acceptor : acceptors_) loop_->Post([acceptor] { acceptor->Close(); });
    point_->Close();
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::string address_;
  const std::shared_ptr<AcceptPoint> point_;
  const std::vector<std::shared_ptr<AnyAcceptor>> acceptors_;
};

}  // namespace

TcpTransport::TcpTransport(TcpOptions options) : state_(std::make_shared<State>(options)) {}

TcpTransport::~TcpTransport() { state_->Shutdown(); }

namespace {

absl::StatusOr<tcp::endpoint> EndpointOf(asio::io_context& context, const HostPort& where) {
  error_code error;
  tcp::resolver resolver(context);
  const auto found =
      resolver.resolve(where.host, std::to_string(where.port),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (!error) return found.begin()->endpoint();
  return absl::UnavailableError(
      StrCat("cannot listen on ", where.ToString(), ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> TcpTransport::Listen(const std::string& address,
                                                               LinkOptions options,
                                                               OnAccept on_accept) {
  WEIR_ASSIGN_OR_RETURN(HostPort where, ParseHostPort(address));
  auto point = std::make_shared<AcceptPoint>(std::move(options), std::move(on_accept));
  std::weak_ptr<State> weak = state_;
  const auto begin = [weak, point](auto socket, const std::string& peer) {
    if (auto state = weak.lock()) {
      state->Begin(std::move(socket), {.role = LinkRole::kListener,
                                       .options = point->options(),
                                       .peer_address = peer,
                                       .opened = point->Opened()});
    }
  };
  std::vector<std::shared_ptr<AnyAcceptor>> acceptors;
  const auto accept = [&](auto acceptor) {
    acceptors.push_back(acceptor);
    state_->Add(acceptor);
    state_->loop()->Post([acceptor] { acceptor->AcceptNext(); });
  };
  auto port = std::make_shared<Acceptor<tcp>>(state_->context(), [begin](tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (!error) begin(std::move(socket), ToText(peer));
  });
  WEIR_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, EndpointOf(state_->context(), where));
  if (const error_code error = port->Open(endpoint)) {
    return absl::UnavailableError(
        StrCat("cannot listen on ", where.ToString(), ": ", error.message()));
  }
  where.port = port->endpoint().port();
  accept(port);
  if (state_->uses_local_sockets() && CoversLoopback(where.host)) {
    auto beside = std::make_shared<Acceptor<local>>(
        state_->context(),
        [begin, name = StrCat("this machine, for port ", where.port)](local::socket socket) {
          begin(Configured(std::move(socket)), name);
        });
    if (!beside->Open(LocalEndpoint(where.port))) accept(beside);
  }
  return std::make_unique<TcpListener>(state_->loop(), where.ToString(), std::move(point),
                                       std::move(acceptors));
}

void TcpTransport::Dial(const std::string& address, DialOptions options, OnDialed done) {
  absl::StatusOr<HostPort> target = ParseHostPort(address);
  if (!target.ok()) {
    state_->loop()->Post([done = std::move(done), error = target.status()] { done(error); });
    return;
  }
  std::weak_ptr<State> weak = state_;
  auto attempt = [weak, target = *target, link = options.link](absl::Duration timeout,
                                                               OnDialed attempt_done) {
    auto state = weak.lock();
    if (state == nullptr) return;
    auto connected = [weak, target, link, attempt_done](Socket socket, absl::Duration left) {
      auto state = weak.lock();
      if (state == nullptr) return;
      state->Begin(std::move(socket), {.role = LinkRole::kDialer,
                                       .options = link,
                                       .peer_address = target.ToString(),
                                       .handshake_timeout = left,
                                       .opened = attempt_done});
    };
    auto connecting = std::make_shared<Connecting>(
        state->context(), target, timeout, state->keepalive(), std::move(connected), attempt_done);
    const bool locally = state->uses_local_sockets() && IsLoopback(target.host);
    state->loop()->Post(
        [connecting, locally] { locally ? connecting->BeginLocally() : connecting->Begin(); });
  };
  DialWithRetries(state_->loop(), address, options, SystemSeed(), std::move(attempt),
                  std::move(done));
}

}  // namespace weir
