#include "server/compiler/optimize/region_walk.h"

#include <utility>

#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// Renames are gathered and applied as the walk goes on, so that the whole walk is linear.
class Walk {
 public:
  Walk(Graph* graph, const NodeVisitor& visit) : graph_(graph), visit_(visit) {}

  absl::Status Run(RegionId region) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      for (ValueId& input : graph_->node(id).inputs) input = Renamed(input);
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Run(r));
      Builder builder(graph_, region, &Ops());
      builder.SetLocation(graph_->node(id).location);
      builder.SetName(graph_->node(id).name);
      absl::StatusOr<Replacement> replacement = visit_(id, builder);
      if (replacement.ok() && !builder.ok()) replacement = builder.status();
      WEIR_RETURN_IF_ERROR(Annotate(replacement.status(), graph_->Describe(id)));
      if (!replacement->has_value()) {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      Replace(id, **replacement);
    }
    for (ValueId& result : graph_->region(region).results) result = Renamed(result);
    return absl::OkStatus();
  }

 private:
  void Replace(NodeId id, const std::vector<ValueId>& values) {
    const std::vector<ValueId>& outputs = graph_->node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      renames_.emplace(outputs[i], values[i]);
      Value& made = graph_->value(values[i]);
      if (made.name.empty()) made.name = graph_->value(outputs[i]).name;
    }
  }

  ValueId Renamed(ValueId value) const {
    for (auto it = renames_.find(value); it != renames_.end(); it = renames_.find(value)) {
      value = it->second;
    }
    return value;
  }

  Graph* graph_;
  const NodeVisitor& visit_;
  ValueMap renames_;
};

}  // namespace

absl::Status RewriteNodes(Graph* graph, const NodeVisitor& visit) {
  Walk walk(graph, visit);
  std::vector<RegionId> bodies;
  for (const Function& function : graph->functions()) bodies.push_back(function.body);
  for (RegionId body : bodies) WEIR_RETURN_IF_ERROR(walk.Run(body));
  return absl::OkStatus();
}

}  // namespace weir
