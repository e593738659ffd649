#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Trunc {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Trunc(x);
  }
};

}  // namespace

OpDef TruncOp() {
  using namespace elementwise;
  return Elementwise<Trunc, Same<1>, Floats>(
      {.name = "trunc", .summary = "Rounds to zero (numpy.trunc)"});
}

}  // namespace weir
