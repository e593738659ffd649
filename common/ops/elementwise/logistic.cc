#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Logistic {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Logistic(x);
  }
};

}  // namespace

OpDef LogisticOp() {
  using namespace elementwise;
  return Elementwise<Logistic, Same<1>, Floats>(
      {.name = "logistic", .summary = "1 / (1 + exp(-x)) (StableHLO logistic)", .cost = 16});
}

}  // namespace weir
