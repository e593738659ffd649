#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct SquaredDifference {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Square(scalar::Subtract(x, y));
  }
};

}  // namespace

OpDef SquaredDifferenceOp() {
  using namespace elementwise;
  return Elementwise<SquaredDifference, Same<2>, Numbers>(
      {.name = "squared_difference", .summary = "(x - y) squared"});
}

}  // namespace weir
