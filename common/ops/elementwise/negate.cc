#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Negate {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Negate(x);
  }
};

}  // namespace

OpDef NegateOp() {
  using namespace elementwise;
  return Elementwise<Negate, Same<1>, Numbers>(
      {.name = "negate", .summary = "-x; integers wrap (StableHLO negate)"});
}

}  // namespace weir
