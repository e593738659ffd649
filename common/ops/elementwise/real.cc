#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Real {
  template <class T>
  WEIR_ALWAYS_INLINE auto operator()(T x) const {
    return x.real();
  }
};

}  // namespace

OpDef RealOp() {
  using namespace elementwise;
  return Elementwise<Real, Parts, Complexes>(
      {.name = "real", .summary = "Real part (StableHLO real)"});
}

}  // namespace weir
