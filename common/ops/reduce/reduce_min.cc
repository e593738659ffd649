#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceMinOp() {
  return Reduction<Combiner::kMin>(
      "reduce_min",
      "smallest over axes, NaN wins; greatest value of nothing (StableHLO reduce with minimum)");
}

}  // namespace weir
