#include "common/net/address.h"

#include <charconv>

#include "common/base/status.h"

namespace weir {
namespace {

absl::Status Bad(std::string_view text, std::string_view why) {
  return InvalidArgument("'", text, "' is not an address: ", why,
                         " (expected HOST:PORT or [IPV6]:PORT)");
}

}  // namespace

std::string HostPort::ToString() const {
  const bool brackets = host.find(':') != std::string::npos;
  return StrCat(brackets ? "[" : "", host, brackets ? "]" : "", ":", port);
}

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return Bad(text, "it must not have a scheme");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Bad(text, "it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Bad(text, "an IPv6 host needs brackets");
  }
  if (host.empty()) return Bad(text, "it has no host");
  HostPort out{.host = std::string(host)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Bad(text, "its port is no number from 0 to 65535");
  }
  return out;
}

}  // namespace weir
