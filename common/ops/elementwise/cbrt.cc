#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Cbrt {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Cbrt(x);
  }
};

}  // namespace

OpDef CbrtOp() {
  using namespace elementwise;
  return Elementwise<Cbrt, Same<1>, Floats>(
      {.name = "cbrt", .summary = "Cube root, with the sign of x (StableHLO cbrt)", .cost = 24});
}

}  // namespace weir
