#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/normal.h"

namespace weir {
namespace {

struct Ndtri {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Ndtri(x);
  }
};

}  // namespace

OpDef NdtriOp() {
  using namespace elementwise;
  return Elementwise<Ndtri, Same<1>, Floats>(
      {.name = "ndtri",
       .summary =
           "Inverse of the normal distribution function; NaN outside [0, 1] (scipy.special ndtri)",
       .cost = 100,
       .samples = &SamplesIn<Same<1>, Floats, 0, 1>});
}

}  // namespace weir
