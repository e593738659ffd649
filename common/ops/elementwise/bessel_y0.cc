#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel.h"

namespace weir {
namespace {

struct BesselY0 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselY0(x);
  }
};

}  // namespace

OpDef BesselY0Op() {
  using namespace elementwise;
  return Elementwise<BesselY0, Same<1>, Floats>(
      {.name = "bessel_y0",
       .summary =
           "Bessel function of the second kind, order 0; -inf at 0, NaN below (scipy.special y0)",
       .cost = 140,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
