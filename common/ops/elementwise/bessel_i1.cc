#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselI1 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselI1(x);
  }
};

}  // namespace

OpDef BesselI1Op() {
  using namespace elementwise;
  return Elementwise<BesselI1, Same<1>, Floats>(
      {.name = "bessel_i1",
       .summary = "Modified Bessel function of the first kind, order 1 (Abramowitz and Stegun 9.6, "
                  "scipy.special i1)",
       .cost = 60,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
