#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Not {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x) const {
    return scalar::Not(x);
  }
};

}  // namespace

OpDef NotOp() {
  using namespace elementwise;
  return Elementwise<Not, Same<1>, Join<Ints, Bools>>(
      {.name = "not", .summary = "Not x, bit by bit (StableHLO not)"});
}

}  // namespace weir
