#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselK1e {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselK1e(x);
  }
};

}  // namespace

OpDef BesselK1eOp() {
  using namespace elementwise;
  return Elementwise<BesselK1e, Same<1>, Floats>(
      {.name = "bessel_k1e",
       .summary = "bessel_k1 times exp(x) (scipy.special k1e)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
