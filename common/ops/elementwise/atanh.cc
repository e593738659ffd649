#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Atanh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Atanh(x);
  }
};

}  // namespace

OpDef AtanhOp() {
  using namespace elementwise;
  return Elementwise<Atanh, Same<1>, Floats>(
      {.name = "atanh",
       .summary = "Inverse hyperbolic tangent, NaN outside [-1, 1]",
       .cost = 24,
       .samples = &SamplesIn<Same<1>, Floats, -1, 1>});
}

}  // namespace weir
