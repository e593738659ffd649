// Assignments in order: a pfor whose iterations assign a variable with mode `ordered` is cut into
// what stands before, for all iterations together, a counted loop over what touches the variable
// or lies between, and what stands behind, for all iterations again. Stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_ORDERED_H_
#define WEIR_COMMON_OPS_CONTROL_ORDERED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"

namespace weir {

// A pfor of which a part runs one iteration after the other.
struct OrderedLoop {
  std::string variable;
  std::string node;  // of an assignment, the user's name for it; may be empty
  Location location;
};

// Cuts every such pfor of the entry function; no assignment with mode `ordered` is left in a pfor.
// Inside of the loop every access has its sequential meaning. Returns: the loops, outermost first;
// INVALID_ARGUMENT naming the variables and the node where what must run in order would need all
// iterations at once: a reduction over them, or another variable that is assigned there, or read
// and written.
absl::StatusOr<std::vector<OrderedLoop>> SplitOrdered(Graph* graph);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_CONTROL_ORDERED_H_
