// Steps with regions: if, case, while, for, their forms by rows, shard and call. Stateless; the
// state is the step's in its activation.
#ifndef WEIR_WORKER_EXECUTOR_CONTROL_H_
#define WEIR_WORKER_EXECUTOR_CONTROL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "worker/executor/activation.h"
#include "worker/executor/region_plan.h"
#include "worker/executor/region_run.h"

namespace weir {

// What a function, or a region that runs like one, is entered with.
struct FunctionEntry {
  const RegionPlan* plan = nullptr;
  SymbolBindings symbols;
  std::vector<Layout> inputs;
};

// Of a `call` step, whose operands have these views.
absl::StatusOr<FunctionEntry> EntryOfCall(const RegionPlan& callee,
                                          const Activation::StepState& state);

// Makes the activations of the step's regions. Returns: the bytes of scratch that the step takes
// for them.
absl::StatusOr<int64_t> PrepareControl(const RegionPlan::Step& step, const Graph& graph,
                                       const SymbolBindings& symbols,
                                       const std::vector<Layout>& operands,
                                       std::vector<std::vector<Layout>> captures,
                                       Activation::StepState* state);

// Runs the step. The addresses in the state's views are set.
absl::Status RunControl(const RegionPlan::Step& step, const Activation& activation,
                        Activation::StepState* state, const Activation::Memory& memory,
                        RunContext* context);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_CONTROL_H_
