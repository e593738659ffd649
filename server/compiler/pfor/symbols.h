// The symbols of a graph, and new ones. Owned by a pass; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_PFOR_SYMBOLS_H_
#define WEIR_SERVER_COMPILER_PFOR_SYMBOLS_H_

#include <set>
#include <string>
#include <string_view>

#include "common/ir/graph.h"

namespace weir {

class Symbols {
 public:
  explicit Symbols(const Graph& graph);

  // Returns: `stem`, or `stem` and the first number that make a symbol nobody has yet.
  std::string Fresh(std::string_view stem);

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PFOR_SYMBOLS_H_
