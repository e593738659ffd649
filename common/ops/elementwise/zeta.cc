#include "common/ops/scalar/zeta.h"

#include "common/ops/elementwise/elementwise.h"

namespace weir {
namespace {

struct Zeta {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Zeta(x, y);
  }
};

}  // namespace

OpDef ZetaOp() {
  using namespace elementwise;
  return Elementwise<Zeta, Same<2>, Floats>(
      {.name = "zeta",
       .summary = "Hurwitz zeta function, the sum of (y + k)^-x over k >= 0, for x > 1; NaN for y "
                  "< 0 that is not whole (CHLO zeta)",
       .cost = 700,
       .samples = &SamplesIn<Same<2>, Floats, 0, 12>});
}

}  // namespace weir
