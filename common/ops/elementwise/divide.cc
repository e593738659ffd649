#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Divide {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Divide(x, y);
  }
};

}  // namespace

OpDef DivideOp() {
  using namespace elementwise;
  return Elementwise<Divide, Same<2>, Numbers>(
      {.name = "divide",
       .summary = "x / y; integers round to zero, x / 0 = -1 (StableHLO divide)",
       .cost = 4});
}

}  // namespace weir
