#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Erfc {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Erfc(x);
  }
};

}  // namespace

OpDef ErfcOp() {
  using namespace elementwise;
  return Elementwise<Erfc, Same<1>, Floats>(
      {.name = "erfc", .summary = "1 - erf(x), exact for large x (CHLO erfc)", .cost = 40});
}

}  // namespace weir
