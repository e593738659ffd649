#include "server/compiler/optimize/results.h"

namespace weir {
namespace {

int CarriedBy(const Node& node) {
  return node.op == "for" ? static_cast<int>(node.inputs.size()) - 1 : 0;
}

}  // namespace

bool IsCollected(const Node& node, int i) {
  if (node.op != "pfor" && node.op != "shard" && node.op != "for") return false;
  return i >= CarriedBy(node);
}

void RemoveCollected(Graph* graph, NodeId id, int i) {
  std::vector<ValueId>& results = graph->region(graph->node(id).regions[0]).results;
  results.erase(results.begin() + i);
  Node& node = graph->node(id);
  node.outputs.erase(node.outputs.begin() + i);
  for (size_t k = i; k < node.outputs.size(); ++k) {
    graph->value(node.outputs[k]).index = static_cast<int>(k);
  }
  // A loop with nothing to collect has no extent.
  if (node.op == "for" && static_cast<int>(node.outputs.size()) == CarriedBy(node)) {
    node.attrs.erase("extent");
  }
}

}  // namespace weir
