// Cuts the nodes of a region into launches: what one kernel runs. Connected element-wise nodes
// become one launch, as do those on vectors of one length, which wait for each other; a bias and an
// activation join the product or convolution before them. Everything else is a launch of its own;
// broadcasts and other views are left to the caller, who passes them as strides. Stateless; usable
// from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_GROUPS_H_
#define WEIR_WORKER_DEVICE_CPU_GROUPS_H_

#include <vector>

#include "common/ir/graph.h"

namespace weir::cpu {

struct Launch {
  std::vector<NodeId> nodes;      // in program order
  std::vector<ValueId> operands;  // used from outside, in first-use order, each once
  std::vector<ValueId> results;   // used by others: nodes outside, or results of the region
};

// Largest group; longer chains are cut.
inline constexpr int kMaxGroupNodes = 64;
inline constexpr int kMaxGroupOperands = 16;

// Returns: launches in an order in which every operand is produced before its use; each node of the
// region is in exactly one. Nodes with regions, control inputs or effects are launches of their
// own.
std::vector<Launch> FormLaunches(const Graph& graph, RegionId region);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_GROUPS_H_
