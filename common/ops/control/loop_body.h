// What the passes share that make several loops of one pfor: which values the later ones need of
// the earlier ones, and what need not be in a loop at all. Stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_LOOP_BODY_H_
#define WEIR_COMMON_OPS_CONTROL_LOOP_BODY_H_

#include <vector>

#include "absl/types/span.h"
#include "common/ir/graph.h"

namespace weir::control {

// Operands of a node, and what its regions capture.
std::vector<ValueId> UsesOf(const Graph& graph, NodeId id);
// Values that `before` makes and `after` or `results` use, in the order of these uses.
std::vector<ValueId> LiveValues(const Graph& graph, absl::Span<const NodeId> before,
                                absl::Span<const NodeId> after, absl::Span<const ValueId> results);
// Nodes of a part that runs behind another one wait for nothing in it.
void DropControlInputs(Graph* graph, absl::Span<const NodeId> part);
// Makes a node the last one of another region.
void MoveNode(Graph* graph, NodeId id, RegionId to);
// Moves those of `nodes`, all of one region, to the end of `outside`, a region around it, that see
// nothing of their region, do nothing but compute and cannot fail. Returns: the others.
std::vector<NodeId> MoveOutInvariant(Graph* graph, absl::Span<const NodeId> nodes,
                                     RegionId outside);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_LOOP_BODY_H_
