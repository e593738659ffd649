#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Log {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Log(x);
  }
};

}  // namespace

OpDef LogOp() {
  using namespace elementwise;
  return Elementwise<Log, Same<1>, Floats>({.name = "log",
                                            .summary = "Natural logarithm (StableHLO log)",
                                            .cost = 12,
                                            .samples = &SamplesIn<Same<1>, Floats, 0, 4>});
}

}  // namespace weir
