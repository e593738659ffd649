#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/integrals.h"

namespace weir {
namespace {

struct Expint {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Expint(x);
  }
};

}  // namespace

OpDef ExpintOp() {
  using namespace elementwise;
  return Elementwise<Expint, Same<1>, Floats>(
      {.name = "expint",
       .summary = "Exponential integral Ei, principal value; -inf at 0 (Abramowitz and Stegun "
                  "5.1.2, scipy.special expi)",
       .cost = 120,
       .samples = &SamplesIn<Same<1>, Floats, -8, 30>});
}

}  // namespace weir
