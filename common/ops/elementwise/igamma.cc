#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/incomplete_gamma.h"

namespace weir {
namespace {

struct Igamma {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Igamma(x, y);
  }
};

}  // namespace

OpDef IgammaOp() {
  using namespace elementwise;
  return Elementwise<Igamma, Same<2>, Floats>(
      {.name = "igamma",
       .summary = "Regularized lower incomplete gamma function of order x at y (Abramowitz and "
                  "Stegun 6.5.1, scipy.special gammainc)",
       .cost = 400,
       .samples = &SamplesIn<Same<2>, Floats, 0, 12>});
}

}  // namespace weir
