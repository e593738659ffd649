#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Power {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Pow(x, y);
  }
};

}  // namespace

OpDef PowerOp() {
  using namespace elementwise;
  return Elementwise<Power, Same<2>, Reals>(
      {.name = "power",
       .summary =
           "x to the power y; integers to a negative power round to zero, 0 to 0 (StableHLO power)",
       .cost = 40,
       .samples = &SamplesIn<Same<2>, Reals, 0, 3>});
}

}  // namespace weir
