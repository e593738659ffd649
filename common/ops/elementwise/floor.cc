#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Floor {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Floor(x);
  }
};

}  // namespace

OpDef FloorOp() {
  using namespace elementwise;
  return Elementwise<Floor, Same<1>, Floats>(
      {.name = "floor", .summary = "Rounds down (StableHLO floor)"});
}

}  // namespace weir
