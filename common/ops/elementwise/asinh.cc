#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Asinh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Asinh(x);
  }
};

}  // namespace

OpDef AsinhOp() {
  using namespace elementwise;
  return Elementwise<Asinh, Same<1>, Floats>(
      {.name = "asinh", .summary = "Inverse hyperbolic sine", .cost = 24});
}

}  // namespace weir
