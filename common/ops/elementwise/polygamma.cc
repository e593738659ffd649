#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/zeta.h"

namespace weir {
namespace {

struct Polygamma {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Polygamma(x, y);
  }
};

}  // namespace

OpDef PolygammaOp() {
  using namespace elementwise;
  return Elementwise<Polygamma, Same<2>, Floats>(
      {.name = "polygamma",
       .summary = "Derivative of order x of digamma at y, NaN for an order that is not whole, and "
                  "for y < 0 unless the order is 0 (CHLO polygamma)",
       .cost = 700,
       .samples = &SamplesIn<Same<2>, Floats, 0, 12>});
}

}  // namespace weir
