#include "common/flow/check_functions.h"

#include "common/base/status.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

bool IsInsideOfPfor(const Graph& graph, const Node& node) {
  for (NodeId around = graph.region(node.parent).parent; around.valid();
       around = graph.region(graph.node(around).parent).parent) {
    if (graph.node(around).op == "pfor") return true;
  }
  return false;
}

bool TouchesVariable(const Node& node) {
  return node.op == "read_variable" || node.op == "update_variable" || node.op == "assign_variable";
}

absl::Status Fault(const Node& node, std::string_view message) {
  const std::string place = node.location.known() ? node.location.ToString() + ": " : "";
  return InvalidArgument(place, node.op, ": ", message);
}

}  // namespace

absl::Status CheckFunctions(const Graph& functions) {
  for (int64_t i = 0; i < functions.num_nodes(); ++i) {
    const Node& node = functions.node(NodeId(i));
    if (TouchesVariable(node)) {
      return Fault(node,
                   "functions of a flow have no variables, since records come in any order; keep "
                   "state in a vertex, such as variable or reduce_by_key");
    }
    if (node.op == "print") {
      return Fault(node,
                   "functions of a flow print nothing; the vertex inspect writes records into the "
                   "job's log");
    }
    if (node.op == "iteration_reduce" && !IsInsideOfPfor(functions, node)) {
      return Fault(node,
                   "functions of a flow are for one record and know no other; use a vertex, such "
                   "as reduce_by_key or collect");
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
