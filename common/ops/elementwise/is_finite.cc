#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct IsFinite {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x) const {
    return scalar::IsFinite(x);
  }
};

}  // namespace

OpDef IsFiniteOp() {
  using namespace elementwise;
  return Elementwise<IsFinite, Test<1>, Floats>(
      {.name = "is_finite", .summary = "True unless x is infinite or NaN (StableHLO is_finite)"});
}

}  // namespace weir
