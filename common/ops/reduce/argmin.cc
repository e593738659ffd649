#include "common/ops/reduce/extremum.h"

namespace weir {

OpDef ArgminOp() {
  return IndexOfExtremum<Extremum::kMin>(
      "argmin",
      "index of the least element along an axis, the first of equals, NaN wins (numpy.argmin)");
}

}  // namespace weir
