#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct ErfInv {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::ErfInv(x);
  }
};

}  // namespace

OpDef ErfInvOp() {
  using namespace elementwise;
  return Elementwise<ErfInv, Same<1>, Floats>(
      {.name = "erf_inv",
       .summary = "Inverse of erf, NaN outside [-1, 1] (CHLO erf_inv)",
       .cost = 50,
       .samples = &SamplesIn<Same<1>, Floats, -1, 1>});
}

}  // namespace weir
