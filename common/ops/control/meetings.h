// Nodes where the iterations of a pfor meet: reductions over them, and what holds such. For passes
// that bring these to where every iteration comes by; stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_MEETINGS_H_
#define WEIR_COMMON_OPS_CONTROL_MEETINGS_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir::control {

// True for a reduction over the iterations of a loop around the node, or with one inside. REQUIRES:
// pfors inside have none left.
bool Meets(const Graph& graph, NodeId id);
// The place of the first such node, or -1.
int FirstMeeting(const Graph& graph, RegionId region);

// Brings the first meeting of the branches of node `at` of a region to the region itself: in its
// place come the same branches with what stands before the meeting, the meeting, in which
// iterations that take other branches have no part, and branches with what stands behind it.
// Returns: UNIMPLEMENTED for a meeting in an op that is no branch and no loop.
absl::Status LiftFirstMeeting(Graph* graph, RegionId region, int at);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_MEETINGS_H_
