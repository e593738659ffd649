#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel.h"

namespace weir {
namespace {

struct BesselJ1 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselJ1(x);
  }
};

}  // namespace

OpDef BesselJ1Op() {
  using namespace elementwise;
  return Elementwise<BesselJ1, Same<1>, Floats>(
      {.name = "bessel_j1",
       .summary = "Bessel function of the first kind, order 1 (Abramowitz and Stegun 9.1, "
                  "scipy.special j1)",
       .cost = 120,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
