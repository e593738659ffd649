#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel.h"

namespace weir {
namespace {

struct BesselY1 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselY1(x);
  }
};

}  // namespace

OpDef BesselY1Op() {
  using namespace elementwise;
  return Elementwise<BesselY1, Same<1>, Floats>(
      {.name = "bessel_y1",
       .summary =
           "Bessel function of the second kind, order 1; -inf at 0, NaN below (scipy.special y1)",
       .cost = 140,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
