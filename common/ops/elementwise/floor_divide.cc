#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct FloorDivide {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::FloorDivide(x, y);
  }
};

}  // namespace

OpDef FloorDivideOp() {
  using namespace elementwise;
  return Elementwise<FloorDivide, Same<2>, Reals>(
      {.name = "floor_divide",
       .summary = "floor(x / y); integers: x / 0 = -1 (numpy.floor_divide)",
       .cost = 20});
}

}  // namespace weir
