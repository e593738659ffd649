// Cuts a compiled program into steps that workers run: a `shard` node becomes a step on every
// worker, what lies between becomes steps on the worker of rank 0, and a loop around shards steps
// that repeat. Last pass, since it leaves the graph form. Stateless; usable from any thread.
//
// The plan does not depend on the number of workers or on the values of symbols.
#ifndef WEIR_SERVER_COMPILER_PARTITION_PARTITION_H_
#define WEIR_SERVER_COMPILER_PARTITION_PARTITION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "server/compiler/pass.h"
#include "weir/v1/plan.pb.h"

namespace weir {

struct PartitionedPlan {
  v1::Plan plan;
  // The constants that plan.program names by their SHA-256.
  std::map<std::string, Tensor> blobs;
  std::vector<std::string> input_names;
  std::vector<TensorType> input_types;
  std::vector<std::string> output_names;
  std::vector<std::string> notes;  // for the report
};

// REQUIRES: no pfor in the entry function.
absl::StatusOr<PartitionedPlan> Partition(const Graph& graph, const CompileOptions& options);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PARTITION_PARTITION_H_
