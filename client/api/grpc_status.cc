#include "client/api/grpc_status.h"

#include <grpcpp/support/status.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "common/base/status.h"

namespace weir {
namespace {

struct Hint {
  const char* text;  // part of gRPC's message
  const char* hint;
};

constexpr Hint kHints[] = {
    {"Connection refused", "nothing listens there; is weir-server running? `weir dev` starts one"},
    {"Socket closed",
     "the server closed the connection; it may require TLS, which this client does not use"},
    {"wrong version number", "the server does not use TLS"},
    {"Domain name not found", "the host name cannot be resolved; in docker use the service name"},
    {"DNS resolution failed", "the host name cannot be resolved; in docker use the service name"},
    {"No route to host", "the host cannot be reached"},
};

}  // namespace

absl::Status FromGrpc(const grpc::Status& status, const std::string& address) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  if (code != absl::StatusCode::kUnavailable && code != absl::StatusCode::kDeadlineExceeded) {
    return absl::Status(code, status.error_message());
  }
  std::string message =
      StrCat("cannot reach the coordinator at ", address, ": ", status.error_message());
  for (const Hint& hint : kHints) {
    if (absl::StrContains(status.error_message(), hint.text)) {
      return absl::Status(code, StrCat(message, " (", hint.hint, ")"));
    }
  }
  return absl::Status(code, message);
}

absl::Status CheckAddress(const std::string& address) {
  if (absl::StrContains(address, "://")) {
    return InvalidArgument("address '", address, "': give HOST:PORT without a scheme");
  }
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 || port > 65535) {
    return InvalidArgument("address '", address, "' is not HOST:PORT");
  }
  return absl::OkStatus();
}

}  // namespace weir
