#include "server/api/grpc_status.h"

#include <string>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// Characters outside of printable ASCII take three bytes each.
constexpr size_t kMaxEncodedBytes = 6000;

std::string Shortened(std::string message) {
  size_t encoded = 0;
  for (size_t i = 0; i < message.size(); ++i) {
    const bool plain = message[i] >= ' ' && message[i] <= '~' && message[i] != '%';
    encoded += plain ? 1 : 3;
    if (encoded <= kMaxEncodedBytes) continue;
    return StrCat(message.substr(0, i), "... (", message.size() - i, " more bytes)");
  }
  return message;
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      Shortened(std::string(ToStd(status.message()))));
}

}  // namespace weir
