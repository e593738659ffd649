#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Copysign {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::CopySign(x, y);
  }
};

}  // namespace

OpDef CopysignOp() {
  using namespace elementwise;
  return Elementwise<Copysign, Same<2>, Floats>(
      {.name = "copysign", .summary = "|x| with the sign bit of y (IEEE 754 copySign)"});
}

}  // namespace weir
