#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Relu {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Maximum(x, T{0});
  }
};

}  // namespace

OpDef ReluOp() {
  using namespace elementwise;
  return Elementwise<Relu, Same<1>, Join<Floats, SignedInts>>(
      {.name = "relu", .summary = "max(x, 0); NaN stays (ONNX Relu)"});
}

}  // namespace weir
