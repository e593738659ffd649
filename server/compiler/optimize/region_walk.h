// Rebuilds the node lists of a graph's regions: each node is kept, dropped or replaced. For passes;
// stateless.
#ifndef WEIR_SERVER_COMPILER_OPTIMIZE_REGION_WALK_H_
#define WEIR_SERVER_COMPILER_OPTIMIZE_REGION_WALK_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "common/ir/graph.h"

namespace weir {

// What a visitor decides: nothing keeps the node; values take the place of the node's outputs and
// the node goes.
using Replacement = std::optional<std::vector<ValueId>>;
// `builder` appends in front of the node, with its name and location.
using NodeVisitor = std::function<absl::StatusOr<Replacement>(NodeId node, Builder& builder)>;

// Visits every node of every function in order, inner regions first.
absl::Status RewriteNodes(Graph* graph, const NodeVisitor& visit);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_OPTIMIZE_REGION_WALK_H_
