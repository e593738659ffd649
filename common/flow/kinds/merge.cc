#include "common/flow/kinds/common_type.h"

namespace weir {

// The record of a source record, whichever input has it: after a switch the branch that it took, at
// the head of a loop `enter` in its first trip and `feedback` in the others. Acts on arrival.
//
// At one time there is at most one record of an origin at all inputs together, with the weight 1;
// another one is an error, whatever the timing. That is what it has before concat, which takes all
// that come.
VertexKind MergeKind() {
  VertexKind kind = {.name = "merge",
                     .summary = "the record of each source record, from the input that has it"};
  kind.max_inputs = 1 << 16;
  kind.infer = CommonType;
  kind.route = [](const FlowVertex&, int) { return Routing{Routing::To::kOrigin, 0}; };
  return kind;
}

}  // namespace weir
