// A plan run by one worker alone, from its first step to its last on the caller's thread: no
// messages, other threads only to help with long steps, and what follows from the types of the
// inputs is computed once. For
// whoever has a worker in his own process and work that takes less than handing it over.
// Immutable; usable from any thread.
#ifndef WEIR_WORKER_DATAFLOW_DIRECT_RUN_H_
#define WEIR_WORKER_DATAFLOW_DIRECT_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/plan/routing.h"
#include "common/tensor/tensor.h"
#include "worker/dataflow/program.h"
#include "worker/executor/compute_pool.h"

namespace weir {

// Whether runs of this program write lines.
bool Prints(const Program& program);

class DirectRun {
 public:
  // REQUIRES: the program is ready. `symbols` are those that inputs of certain types bind. Returns:
  // an error for a plan that no worker could run with them.
  static absl::StatusOr<DirectRun> Make(const Program& program, SymbolBindings symbols);

  // How long a run takes if each step takes what it took the last time, wherever that was; nothing
  // while a step has not run yet.
  std::optional<std::chrono::nanoseconds> Predict(const Program& program) const;

  // REQUIRES: the program and types of inputs are those of Make; inputs are in the order of the
  // plan's. Returns: the results in the order of the plan's outputs; an output that is an input is
  // answered with it. Threads of `helpers` take part in long steps. Errors are those of a job on
  // one worker, DEADLINE_EXCEEDED, and CANCELLED once `cancelled`, which may be null, is set. What
  // the program prints is lost.
  absl::StatusOr<std::vector<Tensor>> Run(const std::shared_ptr<Program>& program,
                                          absl::Span<const Tensor> inputs,
                                          std::chrono::steady_clock::time_point deadline,
                                          std::shared_ptr<std::atomic<bool>> cancelled,
                                          absl::Span<ComputePool* const> helpers = {}) const;

 private:
  DirectRun(SymbolBindings symbols, std::shared_ptr<const RunShape> shape)
      : symbols_(std::move(symbols)), shape_(std::move(shape)) {}

  SymbolBindings symbols_;
  std::shared_ptr<const RunShape> shape_;
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_DIRECT_RUN_H_
