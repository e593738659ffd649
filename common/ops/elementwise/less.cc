#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Less {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x < y;
  }
};

}  // namespace

OpDef LessOp() {
  using namespace elementwise;
  return Elementwise<Less, Test<2>, Join<Reals, Bools>>(
      {.name = "less", .summary = "x < y; false with NaN (StableHLO compare LT)"});
}

}  // namespace weir
