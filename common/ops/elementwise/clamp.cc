#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Clamp {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T low, T x, T high) const {
    return scalar::Clamp(low, x, high);
  }
};

}  // namespace

OpDef ClampOp() {
  using namespace elementwise;
  return Elementwise<Clamp, Same<3>, Reals>(
      {.name = "clamp", .summary = "clamp(low, x, high): x within the bounds (StableHLO clamp)"});
}

}  // namespace weir
