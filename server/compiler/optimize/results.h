// Results that a loop collects by iteration: each comes from one result of its region and nothing
// else depends on it. For passes; stateless.
#ifndef WEIR_SERVER_COMPILER_OPTIMIZE_RESULTS_H_
#define WEIR_SERVER_COMPILER_OPTIMIZE_RESULTS_H_

#include "common/ir/graph.h"

namespace weir {

// True if output `i` of the node is made of result i of its only region for each iteration.
bool IsCollected(const Node& node, int i);
// Removes output `i` and the result that it is made of. REQUIRES: IsCollected(node, i), unused.
void RemoveCollected(Graph* graph, NodeId node, int i);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_OPTIMIZE_RESULTS_H_
