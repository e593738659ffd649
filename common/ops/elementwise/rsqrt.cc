#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Rsqrt {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Rsqrt(x);
  }
};

}  // namespace

OpDef RsqrtOp() {
  using namespace elementwise;
  return Elementwise<Rsqrt, Same<1>, Floats>({.name = "rsqrt",
                                              .summary = "1 / sqrt(x) (StableHLO rsqrt)",
                                              .cost = 8,
                                              .samples = &SamplesIn<Same<1>, Floats, 0, 4>});
}

}  // namespace weir
