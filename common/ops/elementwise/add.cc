#include "common/ops/elementwise/elementwise.h"

namespace weir {
namespace {

struct Add {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(T x, T y) const {
    if constexpr (std::is_same_v<T, bool>) {
      return x | y;
    } else if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
    } else {
      return x + y;
    }
  }
};

}  // namespace

OpDef AddOp() {
  using namespace elementwise;
  return Elementwise<Add, Same<2>, Everything>(
      {.name = "add", .summary = "x + y; or for bool (StableHLO add)"});
}

}  // namespace weir
