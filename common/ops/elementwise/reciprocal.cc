#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Reciprocal {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Reciprocal(x);
  }
};

}  // namespace

OpDef ReciprocalOp() {
  using namespace elementwise;
  return Elementwise<Reciprocal, Same<1>, Floats>(
      {.name = "reciprocal", .summary = "1 / x", .cost = 4});
}

}  // namespace weir
