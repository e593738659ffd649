// Runs one step of a run: the worker's range of iterations is cut into chunks that fit the cache,
// and the chunks run side by side on the compute threads, or one after the other on the caller's.
// Results do not depend on the cut. Thread-safe.
#ifndef WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_
#define WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/tensor/tensor.h"
#include "worker/dataflow/program.h"
#include "worker/executor/compute_pool.h"

namespace weir {

using StepDone =
    std::function<void(absl::StatusOr<std::vector<Tensor>> outputs, const StepStats& stats)>;

// Calls `done` on a compute thread, or on the caller's before it returns: a step that took some
// microseconds the last time runs there.
void RunStep(StepTask task, ComputePool* pool, StepDone done);

// Runs the step on the caller's thread, and a long one also on those of `helpers` that come to it
// before there is nothing left to begin: it waits for none that is at something else. Returns: its
// outputs; `stats` are then what it took.
absl::StatusOr<std::vector<Tensor>> RunStepHere(StepTask task,
                                                absl::Span<ComputePool* const> helpers,
                                                StepStats* stats);

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_
