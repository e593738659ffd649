#include "server/compiler/pfor/pfor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/control/ragged.h"
#include "common/ops/registry.h"
#include "server/compiler/effects.h"
#include "server/compiler/pfor/convert.h"
#include "server/compiler/pfor/symbols.h"
#include "server/compiler/pfor/variance.h"

namespace weir {
namespace {

bool HasCount(const Node& node) { return node.op == "pfor" && !node.inputs.empty(); }

// True for loops whose iterations may part ways, or differ in number. Inside of another loop they
// are left to that one, which converts the lanes of both together.
bool HasControlFlow(const Graph& graph, RegionId region) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call" || HasCount(node) || (!node.regions.empty() && node.op != "pfor")) {
      return true;
    }
    for (RegionId inner : node.regions) {
      if (HasControlFlow(graph, inner)) return true;
    }
  }
  return false;
}

// True for what may fail or not end, and so must not run where no iteration asks for it.
bool MayFail(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op == "while" || node.op == "call" || HasCount(node)) return true;
  return std::any_of(node.regions.begin(), node.regions.end(), [&](RegionId region) {
    const std::vector<NodeId>& nodes = graph.region(region).nodes;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](NodeId inner) { return MayFail(graph, inner); });
  });
}

class PforRemoval {
 public:
  PforRemoval(Graph* graph, const CompileOptions& options, CompileReport* report)
      : graph_(graph), options_(options), report_(report), symbols_(*graph) {}

  // Converts until no pfor is left: one inside of another that sees nothing of it moves out whole.
  absl::Status Run() {
    do {
      converted_ = 0;
      std::vector<RegionId> bodies;
      for (const Function& function : graph_->functions()) bodies.push_back(function.body);
      for (RegionId body : bodies) WEIR_RETURN_IF_ERROR(Rewrite(body, {}));
    } while (converted_ > 0);
    return absl::OkStatus();
  }

 private:
  // What is around a node.
  struct Place {
    bool in_pfor = false;
    bool in_shard = false;
  };

  bool vectorizes() const { return options_.loops != CompileOptions::Loops::kSequential; }

  // Rebuilds the node list of a region, innermost regions first.
  absl::Status Rewrite(RegionId region, Place place) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      const std::vector<RegionId> inner = graph_->node(id).regions;
      const bool is_pfor = graph_->node(id).op == "pfor";
      const bool left = place.in_pfor && vectorizes() && is_pfor &&
                        (HasCount(graph_->node(id)) || HasControlFlow(*graph_, inner[0]));
      Place inside = place;
      inside.in_pfor = place.in_pfor || is_pfor;
      inside.in_shard = place.in_shard || graph_->node(id).op == "shard";
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Rewrite(r, inside));
      if (left) MoveOut(id, region);
      if (!is_pfor || left) {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      ++converted_;
      WEIR_RETURN_IF_ERROR(Annotate(Replace(id, region, place), graph_->Describe(id)));
    }
    return absl::OkStatus();
  }

  // Moves what does not see the loop's variable in front of the loop: no lane need compute it.
  void MoveOut(NodeId loop, RegionId region) {
    const RegionId body = graph_->node(loop).regions[0];
    Variance variance(*graph_);
    variance.MarkVarying(graph_->region(body).args[0]);
    variance.AnalyzeRegion(body);
    std::vector<NodeId> stay;
    for (NodeId id : graph_->region(body).nodes) {
      if (!MayMoveOut(id, body, variance)) {
        stay.push_back(id);
        continue;
      }
      graph_->region(region).nodes.push_back(id);
      graph_->node(id).parent = region;
      for (ValueId output : graph_->node(id).outputs) graph_->value(output).region = region;
    }
    graph_->region(body).nodes = std::move(stay);
  }

  bool MayMoveOut(NodeId id, RegionId body, const Variance& variance) const {
    const Node& node = graph_->node(id);
    if (variance.Touched(id) || HasEffect(*graph_, id) || MayFail(*graph_, id) ||
        !node.control_inputs.empty()) {
      return false;
    }
    auto outside = [&](ValueId value) { return graph_->value(value).region != body; };
    auto same = [&](ValueId output) { return !variance.varies(output); };
    return std::all_of(node.inputs.begin(), node.inputs.end(), outside) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), same) &&
           std::all_of(node.regions.begin(), node.regions.end(), [&](RegionId inner) {
             const std::vector<ValueId> captures = graph_->Captures(inner);
             return std::all_of(captures.begin(), captures.end(), outside);
           });
  }

  absl::Status Replace(NodeId id, RegionId region, Place place) {
    Builder builder(graph_, region, &Ops());
    builder.SetLocation(graph_->node(id).location);
    builder.SetName(graph_->node(id).name);
    WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, Convert(id, builder, place));
    const std::vector<ValueId> old = graph_->node(id).outputs;
    for (size_t i = 0; i < old.size(); ++i) {
      Value& made = graph_->value(outputs[i]);
      if (made.name.empty()) made.name = graph_->value(old[i]).name;
      graph_->ReplaceUses(old[i], outputs[i]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ValueId>> Convert(NodeId id, Builder& builder, Place place) {
    if (!vectorizes()) return Loop(id, builder);
    if (HasCount(graph_->node(id))) {
      return ConvertToRaggedRows(graph_, id, builder, &symbols_, report_);
    }
    if (place.in_pfor || place.in_shard) {
      return ConvertInline(graph_, id, builder, &symbols_, report_);
    }
    return ConvertToShard(graph_, id, builder, &symbols_, report_);
  }

  absl::StatusOr<std::vector<ValueId>> Loop(NodeId id, Builder& builder) {
    const Node node = graph_->node(id);
    graph_->region(node.regions[0]).parent = NodeId();
    std::vector<ValueId> outputs = control::LoopOverIterations(
        builder, node.regions[0], node.inputs, node.attr("extent").AsDims()[0]);
    WEIR_RETURN_IF_ERROR(builder.status());
    return outputs;
  }

  Graph* graph_;
  const CompileOptions& options_;
  CompileReport* report_;
  Symbols symbols_;
  int converted_ = 0;  // in this pass over the graph
};

}  // namespace

absl::Status RemovePfor(Graph* graph, const CompileOptions& options, CompileReport* report) {
  const size_t before = report->fallbacks.size();
  PforRemoval removal(graph, options, report);
  WEIR_RETURN_IF_ERROR(removal.Run());
  return options.strict ? CheckNoFallback(*report, before) : absl::OkStatus();
}

}  // namespace weir
