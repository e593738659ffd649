#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/ir/clone.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace {

using Substitution = std::map<std::string, Dim, std::less<>>;

void CollectCallees(const Graph& graph, RegionId region, std::set<std::string>* out) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call") out->insert(node.attr("callee").AsString());
    for (RegionId inner : node.regions) CollectCallees(graph, inner, out);
  }
}

// Functions that can reach themselves through calls.
std::set<std::string> RecursiveFunctions(const Graph& graph) {
  std::map<std::string, std::set<std::string>> reach;
  for (const Function& function : graph.functions()) {
    CollectCallees(graph, function.body, &reach[function.name]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [name, callees] : reach) {
      std::set<std::string> grown = callees;
      for (const std::string& callee : callees) {
        auto it = reach.find(callee);
        if (it != reach.end()) grown.insert(it->second.begin(), it->second.end());
      }
      if (grown.size() == callees.size()) continue;
      callees = std::move(grown);
      changed = true;
    }
  }
  std::set<std::string> recursive;
  for (const auto& [name, callees] : reach) {
    if (callees.contains(name)) recursive.insert(name);
  }
  return recursive;
}

// Puts the caller's dimensions for the callee's symbols into the types and attributes of copied
// nodes.
void Substitute(Graph* graph, absl::Span<const NodeId> nodes, const Substitution& symbols) {
  for (NodeId id : nodes) {
    for (auto& [name, attr] : graph->node(id).attrs) {
      if (attr.kind() != Attr::Kind::kDims) continue;
      std::vector<Dim> dims;
      for (const Dim& dim : attr.AsDims()) dims.push_back(dim.Substitute(symbols));
      attr = Attr(std::move(dims));
    }
    for (ValueId output : graph->node(id).outputs) {
      Value& value = graph->value(output);
      value.type.shape = value.type.shape.Substitute(symbols);
    }
    for (RegionId region : graph->node(id).regions) {
      for (ValueId arg : graph->region(region).args) {
        Value& value = graph->value(arg);
        value.type.shape = value.type.shape.Substitute(symbols);
      }
      const std::vector<NodeId> inner = graph->region(region).nodes;
      Substitute(graph, inner, symbols);
    }
  }
}

}  // namespace

absl::Status InlineCalls(Graph* graph, const CompileOptions&, CompileReport*) {
  const std::set<std::string> recursive = RecursiveFunctions(*graph);
  // Each round inlines one level of calls; without recursion the call graph has no longer path than
  // functions.
  for (size_t round = 0; round < graph->functions().size(); ++round) {
    bool found = false;
    auto inline_call = [&](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
      const Node node = graph->node(id);
      if (node.op != "call" || recursive.contains(node.attr("callee").AsString())) {
        return std::nullopt;
      }
      found = true;
      const RegionId callee = graph->FindFunction(node.attr("callee").AsString())->body;
      const std::vector<ValueId> params = graph->region(callee).args;
      Substitution symbols;
      ValueMap map;
      for (size_t i = 0; i < params.size(); ++i) {
        map.emplace(params[i], node.inputs[i]);
        const Shape& formal = graph->type(params[i]).shape;
        const Shape& actual = graph->type(node.inputs[i]).shape;
        for (int axis = 0; axis < formal.rank(); ++axis) {
          if (formal[axis].is_symbol()) symbols.emplace(formal[axis].symbol(), actual[axis]);
        }
      }
      const size_t before = graph->region(builder.region()).nodes.size();
      std::vector<ValueId> results = CloneRegionBody(*graph, callee, graph, builder.region(), &map);
      const std::vector<NodeId>& nodes = graph->region(builder.region()).nodes;
      const std::vector<NodeId> made(nodes.begin() + before, nodes.end());
      Substitute(graph, made, symbols);
      return results;
    };
    WEIR_RETURN_IF_ERROR(RewriteNodes(graph, inline_call));
    if (!found) break;
  }
  return absl::OkStatus();
}

}  // namespace weir
