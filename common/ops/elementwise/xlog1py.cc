#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Xlog1py {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Select(x == 0 && !scalar::IsNan(y), T{0}, x * scalar::Log1p(y));
  }
};

}  // namespace

OpDef Xlog1pyOp() {
  using namespace elementwise;
  return Elementwise<Xlog1py, Same<2>, Floats>(
      {.name = "xlog1py",
       .summary = "x * log(1 + y), 0 where x is 0 (scipy.special.xlog1py)",
       .cost = 18,
       .samples = &SamplesIn<Same<2>, Floats, -1, 3>});
}

}  // namespace weir
