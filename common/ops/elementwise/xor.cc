#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Xor {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Xor(x, y);
  }
};

}  // namespace

OpDef XorOp() {
  using namespace elementwise;
  return Elementwise<Xor, Same<2>, Join<Ints, Bools>>(
      {.name = "xor", .summary = "x exclusive-or y, bit by bit (StableHLO xor)"});
}

}  // namespace weir
