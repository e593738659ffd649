#include "common/base/byte_size.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/base/status.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {"KB", 1e3},     {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12},
    {"B", 1},
};

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(std::string_view text) {
  constexpr double kMost = 9e18;
  std::string_view number = text;
  double scale = 1;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    number.remove_suffix(unit.name.size());
    scale = unit.bytes;
    break;
  }
  double value = 0;
  const bool parses = absl::SimpleAtod(absl::StripAsciiWhitespace(ToAbsl(number)), &value);
  if (!parses || !std::isfinite(value) || value * scale < 1 || value * scale > kMost) {
    return InvalidArgument("'", text, "' is no number of bytes; write 4096, 512MiB or 1.5GiB");
  }
  return static_cast<int64_t>(value * scale);
}

}  // namespace weir
