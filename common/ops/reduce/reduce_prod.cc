#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceProdOp() {
  return Reduction<Combiner::kMul>(
      "reduce_prod", "product over axes; 1 of nothing (StableHLO reduce with multiply)");
}

}  // namespace weir
