#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Asin {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Asin(x);
  }
};

}  // namespace

OpDef AsinOp() {
  using namespace elementwise;
  return Elementwise<Asin, Same<1>, Floats>({.name = "asin",
                                             .summary = "Arc sine, NaN outside [-1, 1]",
                                             .cost = 12,
                                             .samples = &SamplesIn<Same<1>, Floats, -1, 1>});
}

}  // namespace weir
