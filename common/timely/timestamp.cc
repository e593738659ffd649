#include "common/timely/timestamp.h"

#include "absl/strings/str_join.h"
#include "common/base/str_cat.h"

namespace weir {

std::string ToString(const Timestamp& time) {
  return StrCat("(", absl::StrJoin(time.coordinates(), ", "), ")");
}

std::ostream& operator<<(std::ostream& out, const Timestamp& time) { return out << ToString(time); }

}  // namespace weir
