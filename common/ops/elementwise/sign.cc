#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Sign {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Sign(x);
  }
};

}  // namespace

OpDef SignOp() {
  using namespace elementwise;
  return Elementwise<Sign, Same<1>, Join<Floats, SignedInts>>(
      {.name = "sign",
       .summary = "-1, 0 or 1 with the sign of x; NaN and -0 stay (StableHLO sign)"});
}

}  // namespace weir
