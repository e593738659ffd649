#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Acos {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Acos(x);
  }
};

}  // namespace

OpDef AcosOp() {
  using namespace elementwise;
  return Elementwise<Acos, Same<1>, Floats>({.name = "acos",
                                             .summary = "Arc cosine, NaN outside [-1, 1]",
                                             .cost = 12,
                                             .samples = &SamplesIn<Same<1>, Floats, -1, 1>});
}

}  // namespace weir
