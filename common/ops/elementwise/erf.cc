#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Erf {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Erf(x);
  }
};

}  // namespace

OpDef ErfOp() {
  using namespace elementwise;
  return Elementwise<Erf, Same<1>, Floats>(
      {.name = "erf", .summary = "Error function (CHLO erf)", .cost = 24});
}

}  // namespace weir
