#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Sinh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Sinh(x);
  }
};

}  // namespace

OpDef SinhOp() {
  using namespace elementwise;
  return Elementwise<Sinh, Same<1>, Floats>(
      {.name = "sinh", .summary = "Hyperbolic sine", .cost = 16});
}

}  // namespace weir
