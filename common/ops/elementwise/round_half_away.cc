#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct RoundHalfAway {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::RoundHalfAway(x);
  }
};

}  // namespace

OpDef RoundHalfAwayOp() {
  using namespace elementwise;
  return Elementwise<RoundHalfAway, Same<1>, Floats>(
      {.name = "round_half_away",
       .summary =
           "Rounds to the nearest integer, ties away from zero (StableHLO round_nearest_afz)",
       .cost = 2});
}

}  // namespace weir
