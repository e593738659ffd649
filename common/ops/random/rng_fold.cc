#include "common/ops/elementwise/elementwise.h"
#include "common/ops/random/philox.h"

namespace weir {
namespace {

struct Fold {
  template <class T>
  WEIR_ALWAYS_INLINE uint64_t operator()(uint64_t key, T data) const {
    return random::FoldKey(key, static_cast<uint64_t>(data));
  }
};

struct KeyAndData {
  template <class T>
  using In = elementwise::Operands<uint64_t, T>;
  template <class T>
  using Out = uint64_t;
};

}  // namespace

OpDef RngFoldOp() {
  using namespace elementwise;
  return Elementwise<Fold, KeyAndData, Types<int64_t, uint64_t>>(
      {.name = "rng_fold",
       .summary = "A random key for each value of data (an iteration, a trip), made from a key",
       .cost = 20});
}

}  // namespace weir
