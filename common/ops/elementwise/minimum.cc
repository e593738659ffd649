#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Minimum {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Minimum(x, y);
  }
};

}  // namespace

OpDef MinimumOp() {
  using namespace elementwise;
  return Elementwise<Minimum, Same<2>, Join<Reals, Bools>>(
      {.name = "minimum",
       .summary = "The smaller operand; NaN if either is, -0 < 0 (StableHLO minimum)"});
}

}  // namespace weir
