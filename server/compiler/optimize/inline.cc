#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ops/control/recursion.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"
#include "server/compiler/optimize/substitute.h"

namespace weir {

absl::Status InlineCalls(Graph* graph, const CompileOptions&, CompileReport*) {
  const Recursion recursion(*graph);
  // Each round inlines one level of calls; without recursion the call graph has no longer path than
  // functions.
  for (size_t round = 0; round < graph->functions().size(); ++round) {
    bool found = false;
    auto inline_call = [&](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
      const Node node = graph->node(id);
      if (node.op != "call" || recursion.SetOf(node.attr("callee").AsString()) >= 0) {
        return std::nullopt;
      }
      found = true;
      const RegionId callee = graph->FindFunction(node.attr("callee").AsString())->body;
      const std::vector<ValueId> params = graph->region(callee).args;
      SymbolDims symbols;
      ValueMap map;
      for (size_t i = 0; i < params.size(); ++i) {
        map.emplace(params[i], node.inputs[i]);
        BindSymbols(graph->type(params[i]).shape, graph->type(node.inputs[i]).shape, &symbols);
      }
      const size_t before = graph->region(builder.region()).nodes.size();
      std::vector<ValueId> results = CloneRegionBody(*graph, callee, graph, builder.region(), &map);
      const std::vector<NodeId>& nodes = graph->region(builder.region()).nodes;
      const std::vector<NodeId> made(nodes.begin() + before, nodes.end());
      SubstituteSymbols(graph, made, symbols);
      return results;
    };
    WEIR_RETURN_IF_ERROR(RewriteNodes(graph, inline_call));
    if (!found) break;
  }
  return absl::OkStatus();
}

}  // namespace weir
