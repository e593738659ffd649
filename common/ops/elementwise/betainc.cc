#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/incomplete_beta.h"

namespace weir {
namespace {

struct Betainc {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y, T z) const {
    return scalar::Betainc(x, y, z);
  }
};

}  // namespace

OpDef BetaincOp() {
  using namespace elementwise;
  return Elementwise<Betainc, Same<3>, Floats>(
      {.name = "betainc",
       .summary = "Regularized incomplete beta function of parameters x, y > 0 at z in [0, 1] "
                  "(Abramowitz and Stegun 26.5, scipy.special betainc)",
       .cost = 600,
       .samples = &SamplesIn<Same<3>, Floats, 0, 1>});
}

}  // namespace weir
