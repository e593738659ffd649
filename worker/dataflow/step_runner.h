// Runs one step of a run on the compute threads: the worker's range of iterations is cut into
// chunks that fit the cache, and the chunks run side by side. Results do not depend on the cut. A
// step that took some microseconds the last time runs on the caller's thread.
// Thread-safe.
#ifndef WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_
#define WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "worker/dataflow/program.h"
#include "worker/executor/compute_pool.h"

namespace weir {

using StepDone =
    std::function<void(absl::StatusOr<std::vector<Tensor>> outputs, const StepStats& stats)>;

// Calls `done` on a compute thread, or on the caller's before it returns.
void RunStep(StepTask task, ComputePool* pool, StepDone done);

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_STEP_RUNNER_H_
