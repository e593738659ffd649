// The step that runs a region for as many lanes as each row asks for: ragged_rows. The lanes lie
// one behind the other, those of one row together. Stateless but for the step's state.
#ifndef WEIR_WORKER_EXECUTOR_RAGGED_STEP_H_
#define WEIR_WORKER_EXECUTOR_RAGGED_STEP_H_

#include "absl/status/statusor.h"
#include "worker/executor/control_step.h"

namespace weir {

// Returns: the bytes of scratch that the step takes.
absl::StatusOr<int64_t> PrepareRaggedRows(const ControlPreparation& p);

absl::Status RunRaggedRows(const ControlRun& r);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_RAGGED_STEP_H_
