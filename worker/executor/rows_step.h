// Steps that run a region for some rows: case_rows and while_rows. The rows lie packed, one behind
// the other; a row that is done leaves at once and the last one takes its place. Stateless but for
// the step's state.
#ifndef WEIR_WORKER_EXECUTOR_ROWS_STEP_H_
#define WEIR_WORKER_EXECUTOR_ROWS_STEP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "worker/executor/control.h"
#include "worker/executor/control_step.h"

namespace weir {

struct RowsState;

// Return: the bytes of scratch that the step takes.
absl::StatusOr<int64_t> PrepareCaseRows(const ControlPreparation& p);
absl::StatusOr<int64_t> PrepareWhileRows(const ControlPreparation& p);

// One for each region, with all rows.
std::vector<FunctionEntry> LargestEntries(const RowsState& state);

absl::Status RunCaseRows(const ControlRun& r);
absl::Status RunWhileRows(const ControlRun& r);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_ROWS_STEP_H_
