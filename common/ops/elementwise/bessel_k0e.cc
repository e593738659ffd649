#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/bessel_modified.h"

namespace weir {
namespace {

struct BesselK0e {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::BesselK0e(x);
  }
};

}  // namespace

OpDef BesselK0eOp() {
  using namespace elementwise;
  return Elementwise<BesselK0e, Same<1>, Floats>(
      {.name = "bessel_k0e",
       .summary = "bessel_k0 times exp(x) (scipy.special k0e)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, -1, 12>});
}

}  // namespace weir
