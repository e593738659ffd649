// Where the result of a view op lies, given the layout of its operand. Stateless.
#ifndef WEIR_WORKER_EXECUTOR_VIEW_OP_H_
#define WEIR_WORKER_EXECUTOR_VIEW_OP_H_

#include <optional>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "worker/executor/activation.h"

namespace weir {

struct ViewedLayout {
  Layout layout;
  int64_t offset = 0;  // in elements
};

// Evaluates the op on a tensor without memory. Returns: nothing for a reshape that needs a copy.
absl::StatusOr<std::optional<ViewedLayout>> ApplyViewOp(const Graph& graph, const Node& node,
                                                        const Layout& operand,
                                                        const SymbolBindings& symbols);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_VIEW_OP_H_
