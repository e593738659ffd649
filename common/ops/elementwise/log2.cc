#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Log2 {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Log2(x);
  }
};

}  // namespace

OpDef Log2Op() {
  using namespace elementwise;
  return Elementwise<Log2, Same<1>, Floats>({.name = "log2",
                                             .summary = "Logarithm to base 2",
                                             .cost = 14,
                                             .samples = &SamplesIn<Same<1>, Floats, 0, 4>});
}

}  // namespace weir
