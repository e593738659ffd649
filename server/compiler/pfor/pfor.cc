#include "server/compiler/pfor/pfor.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/registry.h"
#include "server/compiler/pfor/convert.h"
#include "server/compiler/pfor/symbols.h"

namespace weir {
namespace {

// True for loops whose iterations may part ways. Inside of another loop they are left to that one,
// which converts the lanes of both together.
bool HasControlFlow(const Graph& graph, RegionId region) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call" || (!node.regions.empty() && node.op != "pfor")) return true;
    for (RegionId inner : node.regions) {
      if (HasControlFlow(graph, inner)) return true;
    }
  }
  return false;
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
      const bool left =
          place.in_pfor && vectorizes() && is_pfor && HasControlFlow(*graph_, inner[0]);
      Place inside = place;
      inside.in_pfor = place.in_pfor || is_pfor;
      inside.in_shard = place.in_shard || graph_->node(id).op == "shard";
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Rewrite(r, inside));
      if (!is_pfor || left) {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      ++converted_;
      WEIR_RETURN_IF_ERROR(Annotate(Replace(id, region, place), graph_->Describe(id)));
    }
    return absl::OkStatus();
  }

  absl::Status Replace(NodeId id, RegionId region, Place place) {
    Builder builder(graph_, region, &Ops());
    builder.SetLocation(graph_->node(id).location);
    builder.SetName(graph_->node(id).name);
    absl::StatusOr<std::vector<ValueId>> outputs =
        !vectorizes()                     ? Loop(id, builder)
        : place.in_pfor || place.in_shard ? ConvertInline(graph_, id, builder, &symbols_, report_)
                                          : ConvertToShard(graph_, id, builder, &symbols_, report_);
    WEIR_RETURN_IF_ERROR(outputs.status());
    const std::vector<ValueId> old = graph_->node(id).outputs;
    for (size_t i = 0; i < old.size(); ++i) {
      Value& made = graph_->value((*outputs)[i]);
      if (made.name.empty()) made.name = graph_->value(old[i]).name;
      graph_->ReplaceUses(old[i], (*outputs)[i]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ValueId>> Loop(NodeId id, Builder& builder) {
    const Node node = graph_->node(id);
    const ValueId trips =
        builder.Apply("dimension_size", {}, {{"size", node.attr("extent").AsDims()}});
    graph_->region(node.regions[0]).parent = NodeId();
    std::vector<ValueId> outputs =
        builder.ApplyAll("for", {trips}, {{"extent", node.attr("extent")}}, {node.regions[0]});
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
  if (options.strict && report->fallbacks.size() > before) {
    std::string list;
    for (size_t i = before; i < report->fallbacks.size(); ++i) {
      StrAppend(&list, "\n  ", report->fallbacks[i].ToString());
    }
    return InvalidArgument("strict: these would run in a loop over the iterations:", list);
  }
  return absl::OkStatus();
}

}  // namespace weir
