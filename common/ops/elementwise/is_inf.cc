#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct IsInf {
  template <class T>
  WEIR_ALWAYS_INLINE bool operator()(T x) const {
    return scalar::IsInf(x);
  }
};

}  // namespace

OpDef IsInfOp() {
  using namespace elementwise;
  return Elementwise<IsInf, Test<1>, Floats>(
      {.name = "is_inf", .summary = "True for both infinities (ONNX IsInf)"});
}

}  // namespace weir
