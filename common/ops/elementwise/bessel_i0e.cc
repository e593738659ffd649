#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselI0e {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselI0e(x);
  }
};

}  // namespace

OpDef BesselI0eOp() {
  using namespace elementwise;
  return Elementwise<BesselI0e, Same<1>, Floats>(
      {.name = "bessel_i0e",
       .summary = "bessel_i0 times exp(-|x|) (scipy.special i0e)",
       .cost = 60,
       .samples = &SamplesIn<Same<1>, Floats, -12, 12>});
}

}  // namespace weir
