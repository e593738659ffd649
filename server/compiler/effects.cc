#include "server/compiler/effects.h"

#include "common/ops/registry.h"

namespace weir {

bool HasEffect(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || op->effect != Effect::kPure) return true;
  for (RegionId region : node.regions) {
    for (NodeId inner : graph.region(region).nodes) {
      if (HasEffect(graph, inner)) return true;
    }
  }
  return false;
}

}  // namespace weir
