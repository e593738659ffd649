#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselI0 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselI0(x);
  }
};

}  // namespace

OpDef BesselI0Op() {
  using namespace elementwise;
  return Elementwise<BesselI0, Same<1>, Floats>(
      {.name = "bessel_i0",
       .summary = "Modified Bessel function of the first kind, order 0 (Abramowitz and Stegun 9.6, "
                  "scipy.special i0)",
       .cost = 60,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
