#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Sqrt {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Sqrt(x);
  }
};

}  // namespace

OpDef SqrtOp() {
  using namespace elementwise;
  return Elementwise<Sqrt, Same<1>, Floats>({.name = "sqrt",
                                             .summary = "Square root (StableHLO sqrt)",
                                             .cost = 4,
                                             .samples = &SamplesIn<Same<1>, Floats, 0, 4>});
}

}  // namespace weir
