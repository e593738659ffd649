#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef CummaxOp() {
  return Cumulative<Combiner::kMax>("cummax", "running maximum along an axis (jax.lax.cummax)");
}

}  // namespace weir
