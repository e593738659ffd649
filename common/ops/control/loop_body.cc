#include "common/ops/control/loop_body.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "common/ops/registry.h"

namespace weir::control {
namespace {

bool OnlyComputes(const Node& node) {
  const OpDef* op = FindOp(node.op);
  return op != nullptr && op->effect == Effect::kPure && node.regions.empty() &&
         node.control_inputs.empty() && node.op != "call";
}

}  // namespace

std::vector<ValueId> UsesOf(const Graph& graph, NodeId id) {
  std::vector<ValueId> uses = graph.node(id).inputs;
  for (RegionId region : graph.node(id).regions) {
    const std::vector<ValueId> captures = graph.Captures(region);
    uses.insert(uses.end(), captures.begin(), captures.end());
  }
  return uses;
}

std::vector<ValueId> LiveValues(const Graph& graph, absl::Span<const NodeId> before,
                                absl::Span<const NodeId> after, absl::Span<const ValueId> results) {
  absl::flat_hash_set<ValueId> made, seen;
  for (NodeId id : before) {
    made.insert(graph.node(id).outputs.begin(), graph.node(id).outputs.end());
  }
  std::vector<ValueId> used(results.begin(), results.end());
  for (NodeId id : after) {
    const std::vector<ValueId> uses = UsesOf(graph, id);
    used.insert(used.end(), uses.begin(), uses.end());
  }
  std::vector<ValueId> live;
  for (ValueId value : used) {
    if (made.contains(value) && seen.insert(value).second) live.push_back(value);
  }
  return live;
}

void DropControlInputs(Graph* graph, absl::Span<const NodeId> part) {
  const absl::flat_hash_set<NodeId> inside(part.begin(), part.end());
  for (NodeId id : part) {
    std::erase_if(graph->node(id).control_inputs,
                  [&](NodeId before) { return !inside.contains(before); });
  }
}

void MoveNode(Graph* graph, NodeId id, RegionId to) {
  graph->region(to).nodes.push_back(id);
  graph->node(id).parent = to;
  for (ValueId output : graph->node(id).outputs) graph->value(output).region = to;
}

std::vector<NodeId> MoveOutInvariant(Graph* graph, absl::Span<const NodeId> nodes,
                                     RegionId outside) {
  std::vector<NodeId> stay;
  for (NodeId id : nodes) {
    const Node& node = graph->node(id);
    const bool moves =
        OnlyComputes(node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId x) {
          return graph->Contains(graph->value(x).region, outside);
        });
    if (moves) {
      MoveNode(graph, id, outside);
    } else {
      stay.push_back(id);
    }
  }
  return stay;
}

}  // namespace weir::control
