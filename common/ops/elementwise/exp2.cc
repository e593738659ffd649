#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Exp2 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Exp2(x);
  }
};

}  // namespace

OpDef Exp2Op() {
  using namespace elementwise;
  return Elementwise<Exp2, Same<1>, Floats>(
      {.name = "exp2", .summary = "2 to the power x", .cost = 10});
}

}  // namespace weir
