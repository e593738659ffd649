#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Abs {
  template <class T>
  WEIR_ALWAYS_INLINE auto operator()(T x) const {
    return scalar::Abs(x);
  }
};

}  // namespace

OpDef AbsOp() {
  using namespace elementwise;
  return Elementwise<Abs, Magnitude, Join<Floats, SignedInts, Complexes>>(
      {.name = "abs",
       .summary = "|x|; MIN stays, complex numbers give their length (StableHLO abs)"});
}

}  // namespace weir
