#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct LessEqual {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x <= y;
  }
};

}  // namespace

OpDef LessEqualOp() {
  using namespace elementwise;
  return Elementwise<LessEqual, Test<2>, Join<Reals, Bools>>(
      {.name = "less_equal", .summary = "x <= y; false with NaN (StableHLO compare LE)"});
}

}  // namespace weir
