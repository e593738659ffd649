#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/fresnel.h"

namespace weir {
namespace {

struct FresnelCos {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::FresnelCos(x);
  }
};

}  // namespace

OpDef FresnelCosOp() {
  using namespace elementwise;
  return Elementwise<FresnelCos, Same<1>, Floats>(
      {.name = "fresnel_cos",
       .summary = "Integral of cos(pi t^2 / 2) from 0 to x (Abramowitz and Stegun 7.3.1)",
       .cost = 150,
       .samples = &SamplesIn<Same<1>, Floats, -6, 6>});
}

}  // namespace weir
