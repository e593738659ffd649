#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Greater {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x > y;
  }
};

}  // namespace

OpDef GreaterOp() {
  using namespace elementwise;
  return Elementwise<Greater, Test<2>, Join<Reals, Bools>>(
      {.name = "greater", .summary = "x > y; false with NaN (StableHLO compare GT)"});
}

}  // namespace weir
