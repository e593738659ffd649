#include "server/compiler/optimize/substitute.h"

#include <vector>

namespace weir {

void BindSymbols(const Shape& parameter, const Shape& argument, SymbolDims* symbols) {
  for (int axis = 0; axis < parameter.rank(); ++axis) {
    if (parameter[axis].is_symbol()) symbols->emplace(parameter[axis].symbol(), argument[axis]);
  }
}

void SubstituteSymbols(Graph* graph, absl::Span<const NodeId> nodes, const SymbolDims& symbols) {
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
    for (RegionId region : graph->node(id).regions) SubstituteSymbols(graph, region, symbols);
  }
}

void SubstituteSymbols(Graph* graph, RegionId region, const SymbolDims& symbols) {
  for (ValueId arg : graph->region(region).args) {
    Value& value = graph->value(arg);
    value.type.shape = value.type.shape.Substitute(symbols);
  }
  const std::vector<NodeId> nodes = graph->region(region).nodes;
  SubstituteSymbols(graph, nodes, symbols);
}

}  // namespace weir
