#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Popcnt {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Popcnt(x);
  }
};

}  // namespace

OpDef PopcntOp() {
  using namespace elementwise;
  return Elementwise<Popcnt, Same<1>, Ints>(
      {.name = "popcnt", .summary = "Number of bits that are set (StableHLO popcnt)", .cost = 4});
}

}  // namespace weir
