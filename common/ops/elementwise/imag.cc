#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Imag {
  template <class T>
  WEIR_ALWAYS_INLINE auto operator()(T x) const {
    return x.imag();
  }
};

}  // namespace

OpDef ImagOp() {
  using namespace elementwise;
  return Elementwise<Imag, Parts, Complexes>(
      {.name = "imag", .summary = "Imaginary part (StableHLO imag)"});
}

}  // namespace weir
