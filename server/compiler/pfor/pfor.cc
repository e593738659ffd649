#include "server/compiler/pfor/pfor.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/registry.h"
#include "server/compiler/pfor/convert.h"

namespace weir {
namespace {

void CollectSymbols(const Graph& graph, std::set<std::string, std::less<>>* out) {
  for (int i = 0; i < graph.num_values(); ++i) {
    graph.type(ValueId(i)).shape.CollectSymbols(out);
  }
}

class PforRemoval {
 public:
  PforRemoval(Graph* graph, const CompileOptions& options, CompileReport* report)
      : graph_(graph), options_(options), report_(report) {
    CollectSymbols(*graph, &symbols_);
  }

  // Rebuilds the node list of a region, innermost regions first.
  absl::Status Rewrite(RegionId region, int depth) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      const bool is_pfor = graph_->node(id).op == "pfor";
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Rewrite(r, depth + (is_pfor ? 1 : 0)));
      if (!is_pfor) {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      WEIR_RETURN_IF_ERROR(Annotate(Replace(id, region, depth), graph_->Describe(id)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Replace(NodeId id, RegionId region, int depth) {
    Builder builder(graph_, region, &Ops());
    builder.SetLocation(graph_->node(id).location);
    builder.SetName(graph_->node(id).name);
    absl::StatusOr<std::vector<ValueId>> outputs =
        options_.loops == CompileOptions::Loops::kSequential ? Loop(id, builder)
        : depth > 0 ? ConvertInline(graph_, id, builder, report_)
                    : ConvertToShard(graph_, id, builder, FreshSymbol(), report_);
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

  std::string FreshSymbol() {
    std::string name = "m";
    for (int i = 1; !symbols_.insert(name).second; ++i) name = StrCat("m", i);
    return name;
  }

  Graph* graph_;
  const CompileOptions& options_;
  CompileReport* report_;
  std::set<std::string, std::less<>> symbols_;
};

}  // namespace

absl::Status RemovePfor(Graph* graph, const CompileOptions& options, CompileReport* report) {
  const size_t before = report->fallbacks.size();
  PforRemoval removal(graph, options, report);
  std::vector<RegionId> bodies;
  for (const Function& function : graph->functions()) bodies.push_back(function.body);
  for (RegionId body : bodies) WEIR_RETURN_IF_ERROR(removal.Rewrite(body, 0));
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
