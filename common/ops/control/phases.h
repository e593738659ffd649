// Cuts loops where they reduce over their iterations (op iteration_reduce): what stands before runs
// for all iterations, then the reduction, then what stands behind. Stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_PHASES_H_
#define WEIR_COMMON_OPS_CONTROL_PHASES_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir {

// Makes several pfors of each pfor that reduces over its iterations; values that a later one needs
// are passed on by row. Reductions in branches are brought to the body, without a part for the
// iterations that go elsewhere; a loop that holds one becomes a loop around a pfor. Returns:
// INVALID_ARGUMENT naming a reduction with no pfor around it or of another extent than that,
// UNIMPLEMENTED one in an op that is no branch and no loop.
absl::Status SplitPhases(Graph* graph);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_CONTROL_PHASES_H_
