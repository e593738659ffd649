#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct And {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::And(x, y);
  }
};

}  // namespace

OpDef AndOp() {
  using namespace elementwise;
  return Elementwise<And, Same<2>, Join<Ints, Bools>>(
      {.name = "and", .summary = "x and y, bit by bit (StableHLO and)"});
}

}  // namespace weir
