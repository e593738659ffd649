// A plan run by some workers in this process, whose messages and steps a seed puts in order.
// Stateless.
#ifndef WEIR_TESTS_PROGRAMS_PLAN_WORLD_H_
#define WEIR_TESTS_PROGRAMS_PLAN_WORLD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/printed_lines.h"
#include "common/tensor/shape.h"
#include "common/tensor/tensor.h"
#include "server/compiler/partition/partition.h"
#include "weir/v1/worker.pb.h"
#include "worker/dataflow/program.h"

namespace weir {

// Returns: what a worker makes of a plan.
absl::StatusOr<std::shared_ptr<Program>> Prepared(const PartitionedPlan& plan);

struct PlanOutcome {
  absl::StatusOr<std::vector<Tensor>> results;
  PrintedLines lines;
  v1::RunCounters counters;  // of all workers together
};

// Links keep the order of what goes along them; which link or worker comes next is drawn. Returns:
// INTERNAL if the workers wait for one another, or go on for a million events.
PlanOutcome RunPlan(const std::shared_ptr<Program>& program, const std::vector<Tensor>& inputs,
                    const SymbolBindings& symbols, int workers, uint64_t seed);

}  // namespace weir

#endif  // WEIR_TESTS_PROGRAMS_PLAN_WORLD_H_
