#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Or {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Or(x, y);
  }
};

}  // namespace

OpDef OrOp() {
  using namespace elementwise;
  return Elementwise<Or, Same<2>, Join<Ints, Bools>>(
      {.name = "or", .summary = "x or y, bit by bit (StableHLO or)"});
}

}  // namespace weir
