#include "server/api/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "common/net/address.h"
#include "server/api/http_paths.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Everything that the server answers to these bytes until it closes the connection.
std::string Talk(const std::string& address, const std::string& bytes) {
  const auto target = ParseHostPort(address);
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect({boost::asio::ip::make_address(target->host), target->port});
  // A server that refuses may close before it has read everything.
  boost::system::error_code error;
  boost::asio::write(socket, boost::asio::buffer(bytes), error);
  std::string answer;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
  return answer;
}

std::string Get(const std::string& address, const std::string& path) {
  return Talk(address, "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

std::unique_ptr<HttpServer> Serve(std::map<std::string, HttpServer::Handler> paths) {
  auto server = HttpServer::Start("127.0.0.1:0", std::move(paths));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(HttpServerTest, AnswersFixedPaths) {
  auto server = Serve({{"/a", [] { return HttpAnswer{.body = "hello"}; }},
                       {"/b", [] { return HttpAnswer{.status = 503, .body = "no"}; }}});
  EXPECT_THAT(Get(server->address(), "/a"),
              AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("\r\n\r\nhello")));
  EXPECT_THAT(Get(server->address(), "/a?x=1"), HasSubstr("hello"));
  EXPECT_THAT(Get(server->address(), "/b"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(Get(server->address(), "/c"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there is: /a /b")));
}

TEST(HttpServerTest, KeepsAConnectionForTheNextRequest) {
  auto server = Serve({{"/a", [] { return HttpAnswer{.body = "hello"}; }}});
  const std::string twice =
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\nHEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const std::string answer = Talk(server->address(), twice);
  EXPECT_EQ(answer.find("200 OK"), 9u);
  EXPECT_NE(answer.find("200 OK", 20), std::string::npos);
  EXPECT_EQ(answer.find("hello"), answer.rfind("hello"));
}

TEST(HttpServerTest, RefusesOtherMethodsAndNonsense) {
  auto server = Serve({{"/a", [] { return HttpAnswer{}; }}});
  EXPECT_THAT(Talk(server->address(),
                   "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_EQ(Talk(server->address(), "\x16\x03\x01 no HTTP at all\r\n\r\n"), "");
  EXPECT_EQ(Talk(server->address(), "GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n"), "");
  EXPECT_THAT(Get(server->address(), "/a"), StartsWith("HTTP/1.1 200"));
}

TEST(HttpServerTest, APortInUseIsNamed) {
  auto server = Serve({});
  const auto second = HttpServer::Start(server->address(), {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(server->address()));
}

TEST(HttpPathsTest, ReadinessSaysWhyNot) {
  Coordinator coordinator(CoordinatorOptions(), MakeMemoryJournal());
  ServerMetrics metrics(&coordinator);
  auto paths = CoordinatorPaths(&coordinator, &metrics);
  EXPECT_EQ(paths["/healthz"]().status, 200);
  const HttpAnswer ready = paths["/readyz"]();
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.body,
            "{\"ready\":false,\"reasons\":[\"no worker is ready\"],\"workers_ready\":0,"
            "\"jobs_running\":0,\"jobs_queued\":0}\n");
  metrics.CountCall("Jobs.Get", 5, absl::Milliseconds(2));
  EXPECT_THAT(paths["/metrics"]().body,
              AllOf(HasSubstr("weir_rpc_total{code=\"NOT_FOUND\",method=\"Jobs.Get\"} 1"),
                    HasSubstr("weir_workers{state=\"ready\"} 0"),
                    HasSubstr("# TYPE weir_jobs_ended_total counter")));
  EXPECT_THAT(paths["/version"]().body, HasSubstr("\"version\":"));
}

}  // namespace
}  // namespace weir
