#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct IsNan {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x) const {
    return scalar::IsNan(x);
  }
};

}  // namespace

OpDef IsNanOp() {
  using namespace elementwise;
  return Elementwise<IsNan, Test<1>, Floats>(
      {.name = "is_nan", .summary = "True for NaN (ONNX IsNaN)"});
}

}  // namespace weir
