#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Softplus {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Softplus(x);
  }
};

}  // namespace

OpDef SoftplusOp() {
  using namespace elementwise;
  return Elementwise<Softplus, Same<1>, Floats>(
      {.name = "softplus",
       .summary = "log(1 + exp(x)), without overflow (ONNX Softplus)",
       .cost = 30});
}

}  // namespace weir
