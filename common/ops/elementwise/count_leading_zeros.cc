#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct CountLeadingZeros {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::CountLeadingZeros(x);
  }
};

}  // namespace

OpDef CountLeadingZerosOp() {
  using namespace elementwise;
  return Elementwise<CountLeadingZeros, Same<1>, Ints>(
      {.name = "count_leading_zeros",
       .summary = "Number of zero bits above the highest one (StableHLO count_leading_zeros)",
       .cost = 8});
}

}  // namespace weir
