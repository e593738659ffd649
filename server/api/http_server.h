// A small HTTP server for probes and scrapers: GET of fixed paths. Owned by the program that runs
// the coordinator; thread-safe. Handlers run on its one thread and must be short.
#ifndef WEIR_SERVER_API_HTTP_SERVER_H_
#define WEIR_SERVER_API_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace weir {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer()>;

  // Serves on HOST:PORT; port 0 takes a free one. Returns: UNAVAILABLE that names the address if it
  // cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           std::map<std::string, Handler> paths);
  ~HttpServer();

  // With the port that was bound.
  const std::string& address() const { return address_; }

 private:
  class Impl;
  HttpServer(std::unique_ptr<Impl> impl, std::string address);

  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_HTTP_SERVER_H_
