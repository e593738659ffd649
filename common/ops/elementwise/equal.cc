#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Equal {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x == y;
  }
};

}  // namespace

OpDef EqualOp() {
  using namespace elementwise;
  return Elementwise<Equal, Test<2>, Everything>(
      {.name = "equal", .summary = "x == y; false with NaN (StableHLO compare EQ)"});
}

}  // namespace weir
