#include "common/ops/reduce/extremum.h"

namespace weir {

OpDef ArgmaxOp() {
  return IndexOfExtremum<Extremum::kMax>(
      "argmax",
      "index of the greatest element along an axis, the first of equals, NaN wins (numpy.argmax)");
}

}  // namespace weir
