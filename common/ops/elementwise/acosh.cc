#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Acosh {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Acosh(x);
  }
};

}  // namespace

OpDef AcoshOp() {
  using namespace elementwise;
  return Elementwise<Acosh, Same<1>, Floats>({.name = "acosh",
                                              .summary = "Inverse hyperbolic cosine, NaN below 1",
                                              .cost = 24,
                                              .samples = &SamplesIn<Same<1>, Floats, 1, 4>});
}

}  // namespace weir
