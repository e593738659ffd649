#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Square {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Square(x);
  }
};

}  // namespace

OpDef SquareOp() {
  using namespace elementwise;
  return Elementwise<Square, Same<1>, Numbers>({.name = "square", .summary = "x * x"});
}

}  // namespace weir
