#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct RoundHalfEven {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::RoundHalfEven(x);
  }
};

}  // namespace

OpDef RoundHalfEvenOp() {
  using namespace elementwise;
  return Elementwise<RoundHalfEven, Same<1>, Floats>(
      {.name = "round_half_even",
       .summary =
           "Rounds to the nearest integer, ties to the even one (StableHLO round_nearest_even)"});
}

}  // namespace weir
