#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Cosh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Cosh(x);
  }
};

}  // namespace

OpDef CoshOp() {
  using namespace elementwise;
  return Elementwise<Cosh, Same<1>, Floats>(
      {.name = "cosh", .summary = "Hyperbolic cosine", .cost = 14});
}

}  // namespace weir
