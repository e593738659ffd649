#include "common/ops/control/phases.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/control/ragged.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

constexpr std::string_view kReduction = "iteration_reduce";

bool Reduces(const Graph& graph, RegionId region) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == kReduction) return true;
    for (RegionId inner : node.regions) {
      if (Reduces(graph, inner)) return true;
    }
  }
  return false;
}

class Splitter {
 public:
  explicit Splitter(Graph* graph) : graph_(graph) {}

  // Rebuilds the node list of a region. `reduces`: it is the body of a pfor.
  absl::Status Walk(RegionId region, bool reduces) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      const bool is_pfor = graph_->node(id).op == "pfor";
      if (graph_->node(id).op == kReduction && !reduces) {
        return InvalidArgument(graph_->Describe(id),
                               ": reduces over the iterations of a loop, so it must stand directly "
                               "in the body of a pfor, not in a branch or another loop");
      }
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Walk(r, is_pfor));
      while (is_pfor && CutPoint(inner[0]) >= 0) {
        WEIR_RETURN_IF_ERROR(Annotate(Cut(id, region, CutPoint(inner[0])), graph_->Describe(id)));
      }
      graph_->region(region).nodes.push_back(id);
    }
    return absl::OkStatus();
  }

 private:
  // The place of the first reduction, or -1.
  int CutPoint(RegionId body) const {
    const std::vector<NodeId>& nodes = graph_->region(body).nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (graph_->node(nodes[i]).op == kReduction) return static_cast<int>(i);
    }
    return -1;
  }

  // Values that `before` makes and the rest of the body uses.
  std::vector<ValueId> Live(const std::vector<NodeId>& before, const std::vector<NodeId>& after,
                            const std::vector<ValueId>& results) const {
    absl::flat_hash_set<ValueId> made, seen;
    for (NodeId id : before) {
      made.insert(graph_->node(id).outputs.begin(), graph_->node(id).outputs.end());
    }
    std::vector<ValueId> used = results;
    for (NodeId id : after) {
      const Node& node = graph_->node(id);
      used.insert(used.end(), node.inputs.begin(), node.inputs.end());
      for (RegionId region : node.regions) {
        const std::vector<ValueId> captures = graph_->Captures(region);
        used.insert(used.end(), captures.begin(), captures.end());
      }
    }
    std::vector<ValueId> live;
    for (ValueId value : used) {
      if (made.contains(value) && seen.insert(value).second) live.push_back(value);
    }
    return live;
  }

  // Leaves in the pfor what stands behind node `at` of its body; the rest goes in front of it.
  absl::Status Cut(NodeId pfor, RegionId parent, int at) {
    const Node loop = graph_->node(pfor);
    const RegionId body = loop.regions[0];
    const Region whole = graph_->region(body);
    const std::vector<NodeId> before(whole.nodes.begin(), whole.nodes.begin() + at);
    const std::vector<NodeId> after(whole.nodes.begin() + at + 1, whole.nodes.end());
    const Node reduction = graph_->node(whole.nodes[at]);
    const Dim extent = loop.attr("extent").AsDims()[0];
    if (reduction.attr("extent").AsDims()[0] != extent) {
      return InvalidArgument(graph_->Describe(whole.nodes[at]), ": has the extent ",
                             reduction.attr("extent").AsDims()[0].ToString(),
                             ", but the loop around it ", extent.ToString());
    }
    const std::vector<ValueId> live = Live(before, after, whole.results);

    Builder outside(graph_, parent, &Ops());
    outside.SetLocation(loop.location);
    outside.SetName(loop.name);
    Builder first = outside.In(outside.NewRegion());
    ValueMap map = {{whole.args[0], first.AddArg(graph_->type(whole.args[0]), "i")}};
    absl::flat_hash_map<NodeId, NodeId> clones;
    for (NodeId id : before) CloneNode(*graph_, id, graph_, first.region(), &map, &clones);
    std::vector<ValueId> results = {reduction.inputs[0]};
    results.insert(results.end(), live.begin(), live.end());
    for (ValueId& result : results) {
      if (auto it = map.find(result); it != map.end()) result = it->second;
    }
    first.Yield(results);
    const std::vector<ValueId> rows =
        outside.ApplyAll("pfor", loop.inputs, loop.attrs, {first.region()});
    WEIR_RETURN_IF_ERROR(outside.status());
    outside.SetLocation(reduction.location);
    const ValueId reduced =
        control::ReduceIterations(outside, reduction.attr("kind").AsString(), rows[0],
                                  loop.inputs.empty() ? ValueId() : loop.inputs[0]);
    WEIR_RETURN_IF_ERROR(outside.status());

    graph_->region(body).nodes.clear();
    Builder second(graph_, body, &Ops());
    absl::flat_hash_map<ValueId, ValueId> replacements = {{reduction.outputs[0], reduced}};
    for (size_t k = 0; k < live.size(); ++k) {
      replacements.emplace(live[k], TakeRow(second, rows[k + 1], whole.args[0]));
    }
    WEIR_RETURN_IF_ERROR(second.status());
    std::vector<NodeId>& nodes = graph_->region(body).nodes;
    nodes.insert(nodes.end(), after.begin(), after.end());
    graph_->ReplaceUses(replacements);
    return absl::OkStatus();
  }

  Graph* graph_;
};

}  // namespace

bool HasPhases(const Graph& graph) {
  const std::vector<Function>& functions = graph.functions();
  return std::any_of(functions.begin(), functions.end(),
                     [&](const Function& f) { return Reduces(graph, f.body); });
}

absl::Status SplitPhases(Graph* graph) {
  Splitter splitter(graph);
  std::vector<RegionId> bodies;
  for (const Function& function : graph->functions()) bodies.push_back(function.body);
  for (RegionId body : bodies) WEIR_RETURN_IF_ERROR(splitter.Walk(body, false));
  return absl::OkStatus();
}

}  // namespace weir
