#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/integrals.h"

namespace weir {
namespace {

struct Spence {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Spence(x);
  }
};

}  // namespace

OpDef SpenceOp() {
  using namespace elementwise;
  return Elementwise<Spence, Same<1>, Floats>(
      {.name = "spence",
       .summary = "Dilogarithm of 1 - x; NaN for x < 0 (Abramowitz and Stegun 27.7.1, "
                  "scipy.special spence)",
       .cost = 90,
       .samples = &SamplesIn<Same<1>, Floats, 0, 6>});
}

}  // namespace weir
