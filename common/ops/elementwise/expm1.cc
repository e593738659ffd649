#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Expm1 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Expm1(x);
  }
};

}  // namespace

OpDef Expm1Op() {
  using namespace elementwise;
  return Elementwise<Expm1, Same<1>, Floats>(
      {.name = "expm1",
       .summary = "exp(x) - 1, exact near 0 (StableHLO exponential_minus_one)",
       .cost = 10});
}

}  // namespace weir
