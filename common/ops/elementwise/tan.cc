#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Tan {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Tan(x);
  }
};

}  // namespace

OpDef TanOp() {
  using namespace elementwise;
  return Elementwise<Tan, Same<1>, Floats>(
      {.name = "tan", .summary = "Tangent (StableHLO tan)", .cost = 30});
}

}  // namespace weir
