#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct ShiftLeft {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::ShiftLeft(x, y);
  }
};

}  // namespace

OpDef ShiftLeftOp() {
  using namespace elementwise;
  return Elementwise<ShiftLeft, Same<2>, Ints>(
      {.name = "shift_left", .summary = "x << y; 0 from the width on (StableHLO shift_left)"});
}

}  // namespace weir
