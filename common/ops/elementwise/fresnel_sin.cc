#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/fresnel.h"

namespace weir {
namespace {

struct FresnelSin {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::FresnelSin(x);
  }
};

}  // namespace

OpDef FresnelSinOp() {
  using namespace elementwise;
  return Elementwise<FresnelSin, Same<1>, Floats>(
      {.name = "fresnel_sin",
       .summary = "Integral of sin(pi t^2 / 2) from 0 to x (Abramowitz and Stegun 7.3.2)",
       .cost = 150,
       .samples = &SamplesIn<Same<1>, Floats, -6, 6>});
}

}  // namespace weir
