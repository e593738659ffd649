#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Ceil {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Ceil(x);
  }
};

}  // namespace

OpDef CeilOp() {
  using namespace elementwise;
  return Elementwise<Ceil, Same<1>, Floats>(
      {.name = "ceil", .summary = "Rounds up (StableHLO ceil)"});
}

}  // namespace weir
