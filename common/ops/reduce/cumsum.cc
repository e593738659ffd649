#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef CumsumOp() {
  return Cumulative<Combiner::kAdd>("cumsum",
                                    "running sum along an axis (jax.lax.cumsum, numpy.cumsum)");
}

}  // namespace weir
