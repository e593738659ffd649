#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceSumOp() {
  return Reduction<Combiner::kAdd>("reduce_sum",
                                   "sum over axes; 0 of nothing (StableHLO reduce with add)");
}

}  // namespace weir
