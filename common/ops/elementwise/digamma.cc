#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Digamma {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Digamma(x);
  }
};

}  // namespace

OpDef DigammaOp() {
  using namespace elementwise;
  return Elementwise<Digamma, Same<1>, Floats>(
      {.name = "digamma",
       .summary = "Derivative of lgamma for x > 0, and its continuation (CHLO digamma)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, -3, 12>});
}

}  // namespace weir
