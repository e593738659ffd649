#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

struct Select {
  template <class T>
  WEIR_ALWAYS_INLINE T operator()(bool condition, T if_true, T if_false) const {
    return scalar::Select(condition, if_true, if_false);
  }
};

}  // namespace

OpDef SelectOp() {
  using namespace elementwise;
  return Elementwise<Select, Choose, Everything>(
      {.name = "select",
       .summary = "if_true where the condition holds, else if_false (StableHLO select)"});
}

}  // namespace weir
