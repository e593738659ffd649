#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceOrOp() {
  return Reduction<Combiner::kOr>(
      "reduce_or", "bits set anywhere along axes; none set of nothing (StableHLO reduce with or)");
}

}  // namespace weir
