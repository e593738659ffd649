#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Xlogy {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Select(x == 0 && !scalar::IsNan(y), T{0}, x * scalar::Log(y));
  }
};

}  // namespace

OpDef XlogyOp() {
  using namespace elementwise;
  return Elementwise<Xlogy, Same<2>, Floats>(
      {.name = "xlogy",
       .summary = "x * log(y), 0 where x is 0 (scipy.special.xlogy)",
       .cost = 14,
       .samples = &SamplesIn<Same<2>, Floats, 0, 3>});
}

}  // namespace weir
