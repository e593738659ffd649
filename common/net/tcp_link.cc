#include "common/net/tcp_link.h"

#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
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
using boost::system::error_code;

std::string ToText(const tcp::endpoint& endpoint) {
  return HostPort{endpoint.address().to_string(), endpoint.port()}.ToString();
}

void SetOption(tcp::socket& socket, int level, int name, int value) {
  setsockopt(socket.native_handle(), level, name, &value, sizeof(value));
}

void Configure(tcp::socket& socket, absl::Duration keepalive) {
  error_code ignored;
  socket.native_non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  // Half of the time in silence, the other half in four probes; unacknowledged data has all of it.
  const int seconds = static_cast<int>(std::max<int64_t>(absl::ToInt64Seconds(keepalive), 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(seconds / 2, 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / 8, 1));
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
}

// The listening socket. Belongs to the io thread once it accepts.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  using Accepted = std::function<void(tcp::socket socket)>;

  Acceptor(asio::io_context& context, Accepted accepted)
      : sockets_(std::in_place, context), accepted_(std::move(accepted)) {}

  absl::Status Open(asio::io_context& context, const HostPort& where) {
    tcp::acceptor& socket = sockets_->listening;
    error_code error;
    tcp::resolver resolver(context);
    const auto found =
        resolver.resolve(where.host, std::to_string(where.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (!error) {
      const tcp::endpoint endpoint = *found.begin();
      socket.open(endpoint.protocol(), error);
      if (!error) socket.set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) socket.bind(endpoint, error);
      if (!error) socket.listen(asio::socket_base::max_listen_connections, error);
    }
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(
        StrCat("cannot listen on ", where.ToString(), ": ", error.message()));
  }

  uint16_t port() const {
    error_code ignored;
    return sockets_->listening.local_endpoint(ignored).port();
  }

  void AcceptNext() {
    if (!sockets_.has_value()) return;
    sockets_->listening.async_accept(
        [self = shared_from_this()](const error_code& error, tcp::socket socket) {
          self->OnAccepted(error, std::move(socket));
        });
  }

  // Lets go of the context.
  void Close() { sockets_.reset(); }

 private:
  struct Sockets {
    explicit Sockets(asio::io_context& context) : listening(context), retry(context) {}
    tcp::acceptor listening;
    asio::steady_timer retry;
  };

  void OnAccepted(const error_code& error, tcp::socket socket) {
    if (!sockets_.has_value()) return;
    if (!error) {
      accepted_(std::move(socket));
      AcceptNext();
      return;
    }
    // Out of descriptors, most likely: the connection stays in the backlog until there is one.
    Log(LogLevel::kWarning, "cannot accept a connection", {{"reason", error.message()}});
    sockets_->retry.expires_after(std::chrono::milliseconds(100));
    sockets_->retry.async_wait([self = shared_from_this()](const error_code& cancelled) {
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
  void Add(std::weak_ptr<Acceptor> acceptor) {
    std::lock_guard lock(mutex_);
    acceptors_.push_back(std::move(acceptor));
  }
  asio::io_context& context() { return *options_.context; }

  // REQUIRES: on the io thread.
  void Begin(tcp::socket socket, LinkSetup setup) {
    Configure(socket, options_.keepalive);
    setup.loop = loop_;
    const LinkOptions link_options = setup.options;
    auto core = std::make_shared<LinkCore>(std::move(setup));
    if (!links_.Add(core)) return;
    std::make_shared<TcpConnection>(std::move(socket), core, link_options)->Begin();
  }

 private:
  void CloseAcceptors() {
    std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Acceptor>& weak : acceptors_) {
      auto acceptor = weak.lock();
      if (acceptor != nullptr) loop_->Post([acceptor] { acceptor->Close(); });
    }
  }

  TcpOptions options_;
  std::unique_ptr<asio::io_context> owned_context_;  // null: the caller's
  std::thread thread_;
  std::shared_ptr<AsioLoop> loop_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Acceptor>> acceptors_;  // guarded by mutex_
  LinkSet links_;
};

namespace {

// One attempt to connect: resolve, connect, hand the socket on.
class Connecting : public std::enable_shared_from_this<Connecting> {
 public:
  using Connected = std::function<void(tcp::socket socket, absl::Duration left)>;

  Connecting(asio::io_context& context, HostPort target, absl::Duration timeout,
             Connected connected, OnDialed failed)
      : resolver_(context),
        socket_(context),
        timer_(context),
        target_(std::move(target)),
        end_(RealClock()->Now() + timeout),
        timeout_(timeout),
        connected_(std::move(connected)),
        failed_(std::move(failed)) {}

  // REQUIRES: on the io thread.
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
    connected_(std::move(socket_), end_ - RealClock()->Now());
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
              std::shared_ptr<AcceptPoint> point, std::shared_ptr<Acceptor> acceptor)
      : loop_(std::move(loop)),
        address_(std::move(address)),
        point_(std::move(point)),
        acceptor_(std::move(acceptor)) {}
  ~TcpListener() override { Close(); }

  const std::string& address() const override { return address_; }
  void SetGeneration(uint64_t generation) override { point_->SetGeneration(generation); }
  void Close() override {
    loop_->Post([acceptor = acceptor_] { acceptor->Close(); });
    point_->Close();
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::string address_;
  const std::shared_ptr<AcceptPoint> point_;
  const std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace

TcpTransport::TcpTransport(TcpOptions options) : state_(std::make_shared<State>(options)) {}

TcpTransport::~TcpTransport() { state_->Shutdown(); }

absl::StatusOr<std::unique_ptr<Listener>> TcpTransport::Listen(const std::string& address,
                                                               LinkOptions options,
                                                               OnAccept on_accept) {
  WEIR_ASSIGN_OR_RETURN(HostPort where, ParseHostPort(address));
  auto point = std::make_shared<AcceptPoint>(std::move(options), std::move(on_accept));
  std::weak_ptr<State> weak = state_;
  auto acceptor = std::make_shared<Acceptor>(state_->context(), [weak, point](tcp::socket socket) {
    auto state = weak.lock();
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (state == nullptr || error) return;
    state->Begin(std::move(socket), {.role = LinkRole::kListener,
                                     .options = point->options(),
                                     .peer_address = ToText(peer),
                                     .opened = point->Opened()});
  });
  WEIR_RETURN_IF_ERROR(acceptor->Open(state_->context(), where));
  where.port = acceptor->port();
  state_->Add(acceptor);
  state_->loop()->Post([acceptor] { acceptor->AcceptNext(); });
  return std::make_unique<TcpListener>(state_->loop(), where.ToString(), std::move(point),
                                       std::move(acceptor));
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
    auto connected = [weak, target, link, attempt_done](tcp::socket socket, absl::Duration left) {
      auto state = weak.lock();
      if (state == nullptr) return;
      state->Begin(std::move(socket), {.role = LinkRole::kDialer,
                                       .options = link,
                                       .peer_address = target.ToString(),
                                       .handshake_timeout = left,
                                       .opened = attempt_done});
    };
    auto connecting = std::make_shared<Connecting>(state->context(), target, timeout,
                                                   std::move(connected), attempt_done);
    state->loop()->Post([connecting] { connecting->Begin(); });
  };
  DialWithRetries(state_->loop(), address, options, SystemSeed(), std::move(attempt),
                  std::move(done));
}

}  // namespace weir
