#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselK0 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselK0(x);
  }
};

}  // namespace

OpDef BesselK0Op() {
  using namespace elementwise;
  return Elementwise<BesselK0, Same<1>, Floats>(
      {.name = "bessel_k0",
       .summary = "Modified Bessel function of the second kind, order 0; inf at 0, NaN below "
                  "(scipy.special k0)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
