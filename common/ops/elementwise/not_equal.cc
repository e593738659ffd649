#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct NotEqual {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x, T y) const {
    return x != y;
  }
};

}  // namespace

OpDef NotEqualOp() {
  using namespace elementwise;
  return Elementwise<NotEqual, Test<2>, Everything>(
      {.name = "not_equal", .summary = "x != y; true with NaN (StableHLO compare NE)"});
}

}  // namespace weir
