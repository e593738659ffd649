// What of a function records go through on their own way, and what it has to be for that.
// Stateless.
#ifndef WEIR_SERVER_FLOWS_PIPELINED_OWN_WAY_H_
#define WEIR_SERVER_FLOWS_PIPELINED_OWN_WAY_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir {

enum class BroughtOut {
  kLoops,  // and the branches that they stand in
  kAll,    // loops and branches
};

// Whether the node becomes vertices: while, for that collects nothing, if, case.
bool IsBroughtOut(const Graph& graph, NodeId node, BroughtOut what);
// The same of a node in the region.
bool HasBroughtOut(const Graph& graph, RegionId region, BroughtOut what);

// Inlines calls, makes loops of recursion, a while of each for and an if of each case that is
// brought out, and drops what nobody uses. REQUIRES: the function is the entry.
absl::Status MakeOwnWays(Graph* graph, BroughtOut what);

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_PIPELINED_OWN_WAY_H_
