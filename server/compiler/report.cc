#include "server/compiler/report.h"

#include "common/base/str_cat.h"

namespace weir {

std::string Fallback::ToString() const {
  std::string out = op;
  if (!node.empty()) StrAppend(&out, " \"", node, "\"");
  if (location.known()) StrAppend(&out, " (", location.ToString(), ")");
  return StrCat(out, ": ", reason);
}

}  // namespace weir
