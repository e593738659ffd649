#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Tanh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Tanh(x);
  }
};

}  // namespace

OpDef TanhOp() {
  using namespace elementwise;
  return Elementwise<Tanh, Same<1>, Floats>(
      {.name = "tanh", .summary = "Hyperbolic tangent (StableHLO tanh)", .cost = 18});
}

}  // namespace weir
