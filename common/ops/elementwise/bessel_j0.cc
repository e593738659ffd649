#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel.h"

namespace weir {
namespace {

struct BesselJ0 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselJ0(x);
  }
};

}  // namespace

OpDef BesselJ0Op() {
  using namespace elementwise;
  return Elementwise<BesselJ0, Same<1>, Floats>(
      {.name = "bessel_j0",
       .summary = "Bessel function of the first kind, order 0 (Abramowitz and Stegun 9.1, "
                  "scipy.special j0)",
       .cost = 120,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
