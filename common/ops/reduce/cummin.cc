#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef CumminOp() {
  return Cumulative<Combiner::kMin>("cummin", "running minimum along an axis (jax.lax.cummin)");
}

}  // namespace weir
