#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselK1 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselK1(x);
  }
};

}  // namespace

OpDef BesselK1Op() {
  using namespace elementwise;
  return Elementwise<BesselK1, Same<1>, Floats>(
      {.name = "bessel_k1",
       .summary = "Modified Bessel function of the second kind, order 1; inf at 0, NaN below "
                  "(scipy.special k1)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
