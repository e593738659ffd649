#include "server/compiler/report.h"

#include "common/base/status.h"
#include "common/base/str_cat.h"

namespace weir {

std::string Fallback::ToString() const {
  std::string out = op;
  if (!node.empty()) StrAppend(&out, " \"", node, "\"");
  if (location.known()) StrAppend(&out, " (", location.ToString(), ")");
  return StrCat(out, ": ", reason);
}

absl::Status CheckNoFallback(const CompileReport& report, size_t before) {
  if (report.fallbacks.size() <= before) return absl::OkStatus();
  std::string list;
  for (size_t i = before; i < report.fallbacks.size(); ++i) {
    StrAppend(&list, "\n  ", report.fallbacks[i].ToString());
  }
  return InvalidArgument("strict: these would run in a loop over the iterations:", list);
}

}  // namespace weir
