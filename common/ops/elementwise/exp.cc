#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Exp {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Exp(x);
  }
};

}  // namespace

OpDef ExpOp() {
  using namespace elementwise;
  return Elementwise<Exp, Same<1>, Floats>(
      {.name = "exp", .summary = "e to the power x (StableHLO exponential)", .cost = 10});
}

}  // namespace weir
