#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselI1e {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselI1e(x);
  }
};

}  // namespace

OpDef BesselI1eOp() {
  using namespace elementwise;
  return Elementwise<BesselI1e, Same<1>, Floats>(
      {.name = "bessel_i1e",
       .summary = "bessel_i1 times exp(-|x|) (CHLO bessel_i1e, scipy.special i1e)",
       .cost = 60,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
