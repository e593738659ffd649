#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceMaxOp() {
  return Reduction<Combiner::kMax>(
      "reduce_max",
      "largest over axes, NaN wins; least value of nothing (StableHLO reduce with maximum)");
}

}  // namespace weir
