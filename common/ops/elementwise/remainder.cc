#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Remainder {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Remainder(x, y);
  }
};

}  // namespace

OpDef RemainderOp() {
  using namespace elementwise;
  return Elementwise<Remainder, Same<2>, Reals>(
      {.name = "remainder",
       .summary =
           "x - y * trunc(x / y), with the sign of x; integers: x % 0 = x (StableHLO remainder)",
       .cost = 20});
}

}  // namespace weir
