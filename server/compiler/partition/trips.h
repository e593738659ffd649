// Loops whose trips all workers walk through together: a `while` or `for` outside of every pfor,
// with vectorized pfors (`shard`) in its regions. What the partitioner must know of them.
// Stateless.
#ifndef WEIR_SERVER_COMPILER_PARTITION_TRIPS_H_
#define WEIR_SERVER_COMPILER_PARTITION_TRIPS_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/ir/graph.h"

namespace weir {

// Whether the node is such a loop: its own regions, or those of loops directly in them, have one.
bool HoldsShards(const Graph& graph, NodeId id);

// Makes every counted loop of the entry function that holds shards a `while`, which carries the
// number of the trip in front, and what is collected behind. Returns: for each such `while` the
// `for` that it was, which is in no list of nodes any more.
absl::StatusOr<absl::flat_hash_map<NodeId, NodeId>> CountByWhile(Graph* graph);

// Values of the entry function, and of its loops that hold shards, that are made by rows: results
// of shards, and what such loops carry of them from trip to trip. REQUIRES: CountByWhile.
absl::flat_hash_set<ValueId> SplitValues(const Graph& graph);

// About how many operations on elements one trip of a loop takes in its shards, over all
// iterations; unknown where that depends on values.
Dim WorkOfTrip(const Graph& graph, NodeId loop);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PARTITION_TRIPS_H_
