#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Log10 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Log10(x);
  }
};

}  // namespace

OpDef Log10Op() {
  using namespace elementwise;
  return Elementwise<Log10, Same<1>, Floats>({.name = "log10",
                                              .summary = "Logarithm to base 10",
                                              .cost = 14,
                                              .samples = &SamplesIn<Same<1>, Floats, 0, 4>});
}

}  // namespace weir
