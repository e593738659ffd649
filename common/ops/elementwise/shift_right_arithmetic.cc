#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct ShiftRightArithmetic {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::ShiftRightArithmetic(x, y);
  }
};

}  // namespace

OpDef ShiftRightArithmeticOp() {
  using namespace elementwise;
  return Elementwise<ShiftRightArithmetic, Same<2>, Ints>(
      {.name = "shift_right_arithmetic",
       .summary = "x >> y filled with the sign bit, from the width on too (StableHLO "
                  "shift_right_arithmetic)"});
}

}  // namespace weir
