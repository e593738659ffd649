#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Maximum {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Maximum(x, y);
  }
};

}  // namespace

OpDef MaximumOp() {
  using namespace elementwise;
  return Elementwise<Maximum, Same<2>, Join<Reals, Bools>>(
      {.name = "maximum",
       .summary = "The larger operand; NaN if either is, -0 < 0 (StableHLO maximum)"});
}

}  // namespace weir
