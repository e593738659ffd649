#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct ShiftRightLogical {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::ShiftRightLogical(x, y);
  }
};

}  // namespace

OpDef ShiftRightLogicalOp() {
  using namespace elementwise;
  return Elementwise<ShiftRightLogical, Same<2>, Ints>(
      {.name = "shift_right_logical",
       .summary = "x >> y filled with zeros; 0 from the width on (StableHLO shift_right_logical)"});
}

}  // namespace weir
