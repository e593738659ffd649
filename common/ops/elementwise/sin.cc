#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Sin {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Sin(x);
  }
};

}  // namespace

OpDef SinOp() {
  using namespace elementwise;
  return Elementwise<Sin, Same<1>, Floats>(
      {.name = "sin", .summary = "Sine (StableHLO sine)", .cost = 30});
}

}  // namespace weir
