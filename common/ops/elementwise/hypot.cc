#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Hypot {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Hypot(x, y);
  }
};

}  // namespace

OpDef HypotOp() {
  using namespace elementwise;
  return Elementwise<Hypot, Same<2>, Floats>(
      {.name = "hypot",
       .summary = "sqrt(x * x + y * y), without overflow (numpy.hypot)",
       .cost = 8});
}

}  // namespace weir
