// HOST:PORT texts. Stateless; usable from any thread.
#ifndef WEIR_COMMON_NET_ADDRESS_H_
#define WEIR_COMMON_NET_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace weir {

struct HostPort {
  std::string host;
  uint16_t port = 0;

  // With brackets around an IPv6 host.
  std::string ToString() const;
};

// Reads "host:port", "1.2.3.4:port" or "[::1]:port". Errors: INVALID_ARGUMENT that names the text.
absl::StatusOr<HostPort> ParseHostPort(std::string_view text);

}  // namespace weir

#endif  // WEIR_COMMON_NET_ADDRESS_H_
