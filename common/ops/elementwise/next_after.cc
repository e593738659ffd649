#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct NextAfter {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::NextAfter(x, y);
  }
};

}  // namespace

OpDef NextAfterOp() {
  using namespace elementwise;
  return Elementwise<NextAfter, Same<2>, Types<float, double>>(
      {.name = "next_after",
       .summary =
           "The value next to x in the direction of y (IEEE 754 nextUp, nextDown; C nextafter)",
       .cost = 2});
}

}  // namespace weir
