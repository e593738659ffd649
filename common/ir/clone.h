// Copies nodes and regions between graphs (or within one), renaming values through a map.
// Thread-compatible.
#ifndef WEIR_COMMON_IR_CLONE_H_
#define WEIR_COMMON_IR_CLONE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/ir/graph.h"

namespace weir {

// Values of the source graph to values of the target graph.
using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

// Copies one node (regions included) to the end of `parent`. Inputs and captures missing from `map`
// keep their id, which REQUIRES source and target to be one graph. Control inputs outside `nodes`
// are dropped. Adds the outputs to `map`.
NodeId CloneNode(const Graph& source, NodeId id, Graph* target, RegionId parent, ValueMap* map,
                 absl::flat_hash_map<NodeId, NodeId>* nodes);
// Copies the nodes of `region` to the end of `parent`. REQUIRES: the arguments are in `map`.
// Returns: the images of the region's results.
std::vector<ValueId> CloneRegionBody(const Graph& source, RegionId region, Graph* target,
                                     RegionId parent, ValueMap* map);
// Copies `region` with arguments into a fresh detached region of `target`.
RegionId CloneRegion(const Graph& source, RegionId region, Graph* target, ValueMap* map);
// Returns: a copy of the graph without unreachable table entries, ids renumbered in print order.
Graph Compact(const Graph& graph);

}  // namespace weir

#endif  // WEIR_COMMON_IR_CLONE_H_
