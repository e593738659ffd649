#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Lgamma {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Lgamma(x);
  }
};

}  // namespace

OpDef LgammaOp() {
  using namespace elementwise;
  return Elementwise<Lgamma, Same<1>, Floats>({.name = "lgamma",
                                               .summary = "log |gamma(x)| (CHLO lgamma)",
                                               .cost = 120,
                                               .samples = &SamplesIn<Same<1>, Floats, -3, 12>});
}

}  // namespace weir
