#include "server/flows/pipelined/own_way.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ops/registry.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"
#include "server/compiler/recursion/recursion.h"

namespace weir {
namespace {

bool Collects(const Node& node) { return node.FindAttr("extent") != nullptr; }

// Whether a node around it stays in one piece.
bool IsInsideOfWhole(const Graph& graph, NodeId id) {
  for (NodeId around = graph.region(graph.node(id).parent).parent; around.valid();
       around = graph.region(graph.node(around).parent).parent) {
    if (!IsBroughtOut(graph, around, BroughtOut::kAll)) return true;
  }
  return false;
}

// while (i < count) { the region; i + 1 }
std::vector<ValueId> WhileOfFor(Graph* graph, NodeId id, Builder& build) {
  const Node node = graph->node(id);
  const Region region = graph->region(node.regions[0]);
  Builder condition = build.In(build.NewRegion());
  Builder body = build.In(build.NewRegion());
  ValueMap map;
  for (const ValueId arg : region.args) {
    condition.AddArg(graph->type(arg));
    map[arg] = body.AddArg(graph->type(arg));
  }
  const std::vector<ValueId> counters = graph->region(condition.region()).args;
  condition.Yield({condition.Apply("less", {counters[0], node.inputs[0]})});
  std::vector<ValueId> next = CloneRegionBody(*graph, node.regions[0], graph, body.region(), &map);
  next.insert(next.begin(), body.Apply("add", {map.at(region.args[0]), body.Scalar<int64_t>(1)}));
  body.Yield(std::move(next));
  std::vector<ValueId> starts = {build.Scalar<int64_t>(0)};
  starts.insert(starts.end(), node.inputs.begin() + 1, node.inputs.end());
  std::vector<ValueId> results =
      build.ApplyAll("while", std::move(starts), {}, {condition.region(), body.region()});
  if (!results.empty()) results.erase(results.begin());
  return results;
}

// if (index == first) { the first region } else { the same of the others }; the last one is for
// every index that is left.
std::vector<ValueId> IfOfCase(Graph* graph, const Node& node, size_t first, Builder& build) {
  const auto copy = [&](size_t region, Builder& into) {
    ValueMap map;
    return CloneRegionBody(*graph, node.regions[region], graph, into.region(), &map);
  };
  if (first + 1 == node.regions.size()) return copy(first, build);
  const bool is_wide = graph->type(node.inputs[0]).dtype == DType::kI64;
  const auto number = static_cast<int32_t>(first);
  const ValueId value = is_wide ? build.Scalar<int64_t>(number) : build.Scalar<int32_t>(number);
  const ValueId is_first = build.Apply("equal", {node.inputs[0], value});
  Builder yes = build.In(build.NewRegion());
  yes.Yield(copy(first, yes));
  Builder no = build.In(build.NewRegion());
  no.Yield(IfOfCase(graph, node, first + 1, no));
  return build.ApplyAll("if", {is_first}, {}, {yes.region(), no.region()});
}

}  // namespace

bool HasBroughtOut(const Graph& graph, RegionId region, BroughtOut what) {
  const std::vector<NodeId>& nodes = graph.region(region).nodes;
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId id) { return IsBroughtOut(graph, id, what); });
}

bool IsBroughtOut(const Graph& graph, NodeId id, BroughtOut what) {
  const Node& node = graph.node(id);
  if (node.op == "while") return true;
  if (node.op == "for") return !Collects(node);
  if (node.op != "if" && node.op != "case") return false;
  return what == BroughtOut::kAll ||
         std::any_of(node.regions.begin(), node.regions.end(),
                     [&](RegionId region) { return HasBroughtOut(graph, region, what); });
}

absl::Status MakeOwnWays(Graph* graph, BroughtOut what) {
  CompileReport report;
  WEIR_RETURN_IF_ERROR(LowerRecursion(graph, {}, &report));
  WEIR_RETURN_IF_ERROR(InlineCalls(graph, {}, &report));
  WEIR_RETURN_IF_ERROR(EliminateDeadCode(graph, {}, &report));
  const auto rewrite = [&](NodeId id, Builder& build) -> absl::StatusOr<Replacement> {
    const Node node = graph->node(id);
    if (!IsBroughtOut(*graph, id, what) || IsInsideOfWhole(*graph, id)) return std::nullopt;
    if (node.op == "for") return WhileOfFor(graph, id, build);
    if (node.op == "case") return IfOfCase(graph, node, 0, build);
    return std::nullopt;
  };
  WEIR_RETURN_IF_ERROR(RewriteNodes(graph, rewrite));
  *graph = Compact(*graph);
  return absl::OkStatus();
}

}  // namespace weir
