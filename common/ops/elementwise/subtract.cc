#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Subtract {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Subtract(x, y);
  }
};

}  // namespace

OpDef SubtractOp() {
  using namespace elementwise;
  return Elementwise<Subtract, Same<2>, Numbers>(
      {.name = "subtract", .summary = "x - y (StableHLO subtract)"});
}

}  // namespace weir
