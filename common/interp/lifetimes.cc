#include "common/interp/lifetimes.h"

namespace weir {

Lifetimes::Lifetimes(const Graph& graph)
    : slots_(graph.num_values(), -1),
      num_slots_(graph.num_regions(), 0),
      last_user_(graph.num_values()),
      is_result_(graph.num_values(), false),
      last_used_by_(graph.num_nodes()) {
  for (const Function& function : graph.functions()) {
    VisitRegion(graph, function.body, function.body);
  }
  for (int i = 0; i < graph.num_values(); ++i) {
    if (slots_[i] < 0 || is_result_[i]) continue;
    const NodeId last = last_user_[i].valid() ? last_user_[i] : graph.value(ValueId(i)).producer;
    if (last.valid()) last_used_by_[last.value()].push_back(ValueId(i));
  }
}

void Lifetimes::VisitRegion(const Graph& graph, RegionId id, RegionId body) {
  const Region& region = graph.region(id);
  int& next = num_slots_[body.value()];
  for (ValueId arg : region.args) slots_[arg.value()] = next++;
  for (NodeId node_id : region.nodes) {
    const Node& node = graph.node(node_id);
    for (ValueId output : node.outputs) slots_[output.value()] = next++;
    for (ValueId input : node.inputs) Use(graph, input, id, node_id);
    for (RegionId inner : node.regions) VisitRegion(graph, inner, body);
  }
  for (ValueId result : region.results) Use(graph, result, id, NodeId());
}

// A use inside a nested region counts for the node that owns the region.
void Lifetimes::Use(const Graph& graph, ValueId value, RegionId region, NodeId node) {
  const RegionId home = graph.value(value).region;
  while (region != home) {
    node = graph.region(region).parent;
    region = graph.node(node).parent;
  }
  if (node.valid()) {
    last_user_[value.value()] = node;
  } else {
    is_result_[value.value()] = true;
  }
}

}  // namespace weir
