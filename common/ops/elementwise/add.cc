#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Add {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    return scalar::Add(x, y);
  }
};

}  // namespace

OpDef AddOp() {
  using namespace elementwise;
  return Elementwise<Add, Same<2>, Everything>(
      {.name = "add", .summary = "x + y; or for bool (StableHLO add)"});
}

}  // namespace weir
