// The compiler: a program goes in, the partitioned plan comes out, with a record of every stage.
// Stateless; usable from any thread.
#ifndef WEIR_SERVER_COMPILER_PIPELINE_H_
#define WEIR_SERVER_COMPILER_PIPELINE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "server/compiler/partition/partition.h"
#include "server/compiler/pass.h"
#include "server/compiler/report.h"

namespace weir {

struct Compiled {
  Graph graph;  // after the last pass
  PartitionedPlan plan;
  CompileReport report;
};

// Called with the program as it came in (pass "import") and after each pass.
using StageFn = std::function<void(const Pass& pass, const Graph& graph)>;

// The passes in order.
absl::Span<const Pass> Passes();
// Runs all passes on `program` and partitions the result.
absl::StatusOr<Compiled> Compile(Graph program, const CompileOptions& options,
                                 const StageFn& on_stage = nullptr);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PIPELINE_H_
