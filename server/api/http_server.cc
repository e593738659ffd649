#include "server/api/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/version.h"
#include "common/net/address.h"

namespace weir {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;

constexpr auto kIdleLimit = std::chrono::seconds(30);
constexpr size_t kMaxRequestBytes = 16 << 10;

using Paths = std::map<std::string, HttpServer::Handler>;

// One connection: reads a request, writes the answer, and so on.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<const Paths> paths)
      : stream_(std::move(socket)), paths_(std::move(paths)) {}

  void Read() {
    parser_.emplace();
    parser_->body_limit(kMaxRequestBytes);
    parser_->header_limit(kMaxRequestBytes);
    stream_.expires_after(kIdleLimit);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, size_t) {
                       if (!error) self->Write();
                     });
  }

 private:
  void Write() {
    const http::request<http::string_body>& request = parser_->get();
    HttpAnswer answer = Answer(request);
    response_ = {};
    response_.version(request.version());
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::server, StrCat("weir/", kVersion));
    response_.set(http::field::content_type, answer.content_type);
    response_.keep_alive(request.keep_alive());
    const bool head = request.method() == http::verb::head;
    response_.content_length(answer.body.size());
    if (!head) response_.body() = std::move(answer.body);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, size_t) {
                        if (!error && self->response_.keep_alive()) self->Read();
                      });
  }

  HttpAnswer Answer(const http::request<http::string_body>& request) const {
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return {405, "text/plain", "only GET is served here\n"};
    }
    const std::string target(request.target().data(), request.target().size());
    auto handler = paths_->find(target.substr(0, target.find('?')));
    if (handler != paths_->end()) return handler->second();
    std::string known;
    for (const auto& [path, unused] : *paths_) StrAppend(&known, " ", path);
    return {404, "text/plain", StrCat("there is:", known, "\n")};
  }

  beast::tcp_stream stream_;
  const std::shared_ptr<const Paths> paths_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(Paths paths)
      : paths_(std::make_shared<const Paths>(std::move(paths))), acceptor_(context_) {}

  ~Impl() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::StatusOr<std::string> Start(const std::string& text) {
    WEIR_ASSIGN_OR_RETURN(HostPort address, ParseHostPort(text));
    const beast::error_code error = Bind(address);
    if (error) {
      return absl::UnavailableError(StrCat("cannot serve HTTP on ", text, ": ", error.message()));
    }
    address.port = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return address.ToString();
  }

 private:
  beast::error_code Bind(const HostPort& address) {
    beast::error_code error;
    tcp::resolver resolver(context_);
    const auto found =
        resolver.resolve(address.host, StrCat(address.port), tcp::resolver::passive, error);
    if (error) return error;
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (error) return error;
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    if (error) return error;
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) std::make_shared<Connection>(std::move(socket), paths_)->Read();
      Accept();
    });
  }

  const std::shared_ptr<const Paths> paths_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, std::map<std::string, Handler> paths) {
  auto impl = std::make_unique<Impl>(std::move(paths));
  WEIR_ASSIGN_OR_RETURN(std::string bound, impl->Start(address));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl), std::move(bound)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::string address)
    : impl_(std::move(impl)), address_(std::move(address)) {}

HttpServer::~HttpServer() = default;

}  // namespace weir
