#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/integrals.h"

namespace weir {
namespace {

struct Dawsn {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Dawsn(x);
  }
};

}  // namespace

OpDef DawsnOp() {
  using namespace elementwise;
  return Elementwise<Dawsn, Same<1>, Floats>(
      {.name = "dawsn",
       .summary = "exp(-x^2) times the integral of exp(t^2) from 0 to x (scipy.special dawsn)",
       .cost = 80,
       .samples = &SamplesIn<Same<1>, Floats, -8, 8>});
}

}  // namespace weir
