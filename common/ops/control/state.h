// State as values: the ops of variables (read_variable, update_variable, assign_variable) become
// arguments, results and carried values, so that nothing behind this knows of state. Stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_STATE_H_
#define WEIR_COMMON_OPS_CONTROL_STATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ops/op_def.h"

namespace weir {

bool HasState(const Graph& graph);

struct VariableUse {
  TensorType type;
  bool written = false;
};
// By name, of the entry function. Returns: the errors of ThreadState that concern types and names.
absl::StatusOr<std::map<std::string, VariableUse>> VariablesOf(const Graph& graph);

// Each variable that the entry function touches becomes an argument of it, behind its own, and if
// it is written a result, behind its own; in the order of their names and under their names.
// Branches yield the values of variables and loops carry them. An iteration of a pfor has what it
// adds itself, or assigned last (assignment.h); behind the loop that is reduced over the iterations
// and applied once, and a read that follows a write in the body cuts the loop there. Assignments in
// order are taken out of pfors first (ordered.h). Does nothing without state. Returns:
// INVALID_ARGUMENT naming variable and node: types that differ, an assignment in a pfor without a
// mode, writes of two kinds in one, a read behind a write inside of a branch or loop there, a write
// in the condition of a loop, the errors of SplitOrdered; UNIMPLEMENTED for a called function with
// state.
absl::Status ThreadState(Graph* graph);

// For the ops themselves.
absl::Status CheckVariableName(const InferContext& context);
absl::StatusOr<Tensor*> VariableOf(EvalContext& context);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_CONTROL_STATE_H_
