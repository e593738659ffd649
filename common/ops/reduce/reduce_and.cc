#include "common/ops/reduce/reduction.h"

namespace weir {

OpDef ReduceAndOp() {
  return Reduction<Combiner::kAnd>(
      "reduce_and",
      "bits set everywhere along axes; all set of nothing (StableHLO reduce with and)");
}

}  // namespace weir
