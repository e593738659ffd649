#include "server/compiler/pfor/symbols.h"

#include "common/base/status.h"

namespace weir {

Symbols::Symbols(const Graph& graph) {
  for (int i = 0; i < graph.num_values(); ++i) {
    graph.type(ValueId(i)).shape.CollectSymbols(&names_);
  }
}

std::string Symbols::Fresh(std::string_view stem) {
  std::string name(stem);
  for (int i = 1; !names_.insert(name).second; ++i) name = StrCat(stem, i);
  return name;
}

}  // namespace weir
