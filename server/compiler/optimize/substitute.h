// Puts the dimensions of a caller in place of the symbols of a callee. For passes; stateless.
#ifndef WEIR_SERVER_COMPILER_OPTIMIZE_SUBSTITUTE_H_
#define WEIR_SERVER_COMPILER_OPTIMIZE_SUBSTITUTE_H_

#include <map>
#include <string>

#include "absl/types/span.h"
#include "common/ir/graph.h"

namespace weir {

// What symbols stand for.
using SymbolDims = std::map<std::string, Dim, std::less<>>;

// Adds what the symbols that are whole dimensions of a parameter stand for, given an argument; the
// first one counts.
void BindSymbols(const Shape& parameter, const Shape& argument, SymbolDims* symbols);
// In the types and attributes of nodes and of what is inside of them.
void SubstituteSymbols(Graph* graph, absl::Span<const NodeId> nodes, const SymbolDims& symbols);
// In a whole region, its arguments included.
void SubstituteSymbols(Graph* graph, RegionId region, const SymbolDims& symbols);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_OPTIMIZE_SUBSTITUTE_H_
