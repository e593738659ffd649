#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Log1p {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Log1p(x);
  }
};

}  // namespace

OpDef Log1pOp() {
  using namespace elementwise;
  return Elementwise<Log1p, Same<1>, Floats>(
      {.name = "log1p",
       .summary = "log(1 + x), exact near 0 (StableHLO log_plus_one)",
       .cost = 16,
       .samples = &SamplesIn<Same<1>, Floats, -1, 4>});
}

}  // namespace weir
