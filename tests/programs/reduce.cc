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
RandomProgram Cleaned(RandomProgram program) {
  if (EliminateDeadCode(&program.graph, {}, nullptr).ok()) program.graph = Compact(program.graph);
  return program;
}

// Puts ones in the place of what a node makes. Returns: false if it cannot.
bool MakeConstant(Graph* graph, NodeId id) {
  const Node node = graph->node(id);
  if (node.op == "constant" || node.op == "broadcast_in_dim" || node.op == "pfor") return false;
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
    if (!IsStatic(type)) return false;
    graph->ReplaceUses(output, Full(b, type.dtype, type.shape.dims(), 1));
  }
  std::vector<NodeId>& nodes = graph->region(node.parent).nodes;
  nodes.insert(nodes.end(), rest.begin(), rest.end());
  return b.ok();
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

RandomProgram Reduced(RandomProgram program) {
  for (size_t keep = 0;; ++keep) {
    RandomProgram smaller = program;
    if (!DropResult(&smaller.graph, keep)) break;
    if (Disagreement(smaller).empty()) continue;
    program = std::move(smaller);
    break;
  }
  program = Cleaned(std::move(program));
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = program.graph.num_nodes() - 1; i >= 0; --i) {
      if (i >= program.graph.num_nodes()) continue;
      RandomProgram smaller = program;
      if (!MakeConstant(&smaller.graph, NodeId(i))) continue;
      smaller = Cleaned(std::move(smaller));
      if (smaller.graph.num_nodes() >= program.graph.num_nodes()) continue;
      if (Disagreement(smaller).empty()) continue;
      program = std::move(smaller);
      changed = true;
    }
  }
  return program;
}

}  // namespace weir
