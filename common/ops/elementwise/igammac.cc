#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/incomplete_gamma.h"

namespace weir {
namespace {

struct Igammac {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Igammac(x, y);
  }
};

}  // namespace

OpDef IgammacOp() {
  using namespace elementwise;
  return Elementwise<Igammac, Same<2>, Floats>(
      {.name = "igammac",
       .summary = "Regularized upper incomplete gamma function, 1 - igamma without cancellation "
                  "(scipy.special gammaincc)",
       .cost = 400,
       .samples = &SamplesIn<Same<2>, Floats, 0, 12>});
}

}  // namespace weir
