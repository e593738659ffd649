#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Cos {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Cos(x);
  }
};

}  // namespace

OpDef CosOp() {
  using namespace elementwise;
  return Elementwise<Cos, Same<1>, Floats>(
      {.name = "cos", .summary = "Cosine (StableHLO cosine)", .cost = 30});
}

}  // namespace weir
