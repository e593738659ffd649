#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Atan2 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Atan2(x, y);
  }
};

}  // namespace

OpDef Atan2Op() {
  using namespace elementwise;
  return Elementwise<Atan2, Same<2>, Floats>(
      {.name = "atan2",
       .summary = "Angle of the point (y, x), operands in the order y, x (StableHLO atan2)",
       .cost = 18});
}

}  // namespace weir
