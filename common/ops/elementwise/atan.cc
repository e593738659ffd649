#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Atan {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Atan(x);
  }
};

}  // namespace

OpDef AtanOp() {
  using namespace elementwise;
  return Elementwise<Atan, Same<1>, Floats>({.name = "atan", .summary = "Arc tangent", .cost = 14});
}

}  // namespace weir
