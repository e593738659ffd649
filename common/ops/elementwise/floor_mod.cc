#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct FloorMod {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::FloorMod(x, y);
  }
};

}  // namespace

OpDef FloorModOp() {
  using namespace elementwise;
  return Elementwise<FloorMod, Same<2>, Reals>(
      {.name = "floor_mod",
       .summary = "x - y * floor(x / y), with the sign of y; integers: x % 0 = x (numpy.mod)",
       .cost = 20});
}

}  // namespace weir
