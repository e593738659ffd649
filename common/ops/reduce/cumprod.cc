#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef CumprodOp() {
  return Cumulative<Combiner::kMul>(
      "cumprod", "running product along an axis (jax.lax.cumprod, numpy.cumprod)");
}

}  // namespace weir
