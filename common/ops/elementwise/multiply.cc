#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Multiply {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Multiply(x, y);
  }
};

}  // namespace

OpDef MultiplyOp() {
  using namespace elementwise;
  return Elementwise<Multiply, Same<2>, Everything>(
      {.name = "multiply", .summary = "x * y; and for bool (StableHLO multiply)"});
}

}  // namespace weir
