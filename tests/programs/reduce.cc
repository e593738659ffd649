#include <algorithm>
#include <utility>
#include <vector>

#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "server/compiler/optimize/simplify.h"
#include "tests/programs/check.h"

namespace weir {
namespace {

bool IsStatic(const TensorType& type) {
  for (const Dim& dim : type.shape.dims()) {
    if (!dim.is_number()) return false;
  }
  return true;
}

// The program without what nobody uses.
Program Cleaned(Program program) {
  if (EliminateDeadCode(&program.graph, {}, nullptr).ok()) program.graph = Compact(program.graph);
  return program;
}

bool MayBeConstant(const Graph& graph, const Node& node) {
  if (!node.parent.valid() || node.op == "constant" || node.op == "broadcast_in_dim" ||
      node.op == "pfor") {
    return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId output) { return IsStatic(graph.type(output)); });
}

// Puts ones in the place of what a node makes. REQUIRES: MayBeConstant.
void MakeConstant(Graph* graph, NodeId id) {
  const Node node = graph->node(id);
  std::vector<NodeId> before;
  for (NodeId other : graph->region(node.parent).nodes) {
    if (other == id) break;
    before.push_back(other);
  }
  std::vector<NodeId> rest(graph->region(node.parent).nodes.begin() + before.size(),
                           graph->region(node.parent).nodes.end());
  graph->region(node.parent).nodes = before;
  Builder b(graph, node.parent, &Ops());
  for (ValueId output : node.outputs) {
    const TensorType type = graph->type(output);
    graph->ReplaceUses(output, Full(b, type.dtype, type.shape.dims(), 1));
  }
  std::vector<NodeId>& nodes = graph->region(node.parent).nodes;
  nodes.insert(nodes.end(), rest.begin(), rest.end());
}

// The program with ones for what nodes `first` to `last` make.
Program WithConstants(Program program, int first, int last) {
  for (int i = last; i >= first; --i) {
    if (MayBeConstant(program.graph, program.graph.node(NodeId(i)))) {
      MakeConstant(&program.graph, NodeId(i));
    }
  }
  return Cleaned(std::move(program));
}

bool DropResult(Graph* graph, size_t keep) {
  Region& main = graph->region(graph->entry().body);
  if (main.results.size() <= 1 || keep >= main.results.size()) return false;
  main.results = {main.results[keep]};
  std::vector<std::string>& names = graph->functions().front().result_names;
  if (!names.empty()) names = {names[keep]};
  return true;
}

}  // namespace

Program Reduced(Program program) {
  for (size_t keep = 0;; ++keep) {
    Program smaller = program;
    if (!DropResult(&smaller.graph, keep)) break;
    if (Disagreement(smaller).empty()) continue;
    program = std::move(smaller);
    break;
  }
  program = Cleaned(std::move(program));
  // Many nodes at once, then half as many, at last one by one until none can go.
  for (int size = std::max(1, program.graph.num_nodes() / 2); size > 0;) {
    bool changed = false;
    for (int last = program.graph.num_nodes() - 1; last >= 0; last -= size) {
      last = std::min(last, program.graph.num_nodes() - 1);
      Program smaller = WithConstants(program, std::max(0, last - size + 1), last);
      if (smaller.graph.num_nodes() >= program.graph.num_nodes()) continue;
      if (Disagreement(smaller).empty()) continue;
      program = std::move(smaller);
      changed = true;
    }
    if (size > 1 || !changed) size /= 2;
  }
  return program;
}

}  // namespace weir
