#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct GreaterEqual {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x >= y;
  }
};

}  // namespace

OpDef GreaterEqualOp() {
  using namespace elementwise;
  return Elementwise<GreaterEqual, Test<2>, Join<Reals, Bools>>(
      {.name = "greater_equal", .summary = "x >= y; false with NaN (StableHLO compare GE)"});
}

}  // namespace weir
