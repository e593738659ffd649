// One run of a plan on one worker: the values that are here, the steps that are done, and what is
// still to come. Owned by the core; thread-compatible.
#ifndef WEIR_WORKER_DATAFLOW_RUN_H_
#define WEIR_WORKER_DATAFLOW_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/plan/routing.h"
#include "common/tensor/tensor.h"
#include "weir/v1/worker.pb.h"
#include "worker/dataflow/program.h"

namespace weir {

// What a run is told besides its plan.
struct RunSpec {
  uint64_t id = 0;
  int rank = 0;
  SymbolBindings symbols;
  int64_t memory_budget = 0;  // bytes of arenas; 0: any
  bool profile = false;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // as in RunOptions
  std::shared_ptr<std::atomic<bool>> cancelled;  // shared by several runs; null: one of its own
};

class Run {
 public:
  // REQUIRES: the program is ready, `shape` is its plan's for the symbols of `spec`, and the rank
  // is one of its world.
  Run(RunSpec spec, std::shared_ptr<Program> program, std::shared_ptr<const RunShape> shape);

  uint64_t id() const { return spec_.id; }
  const RunShape& shape() const { return *shape_; }
  int rank() const { return spec_.rank; }

  // Whether it is a parameter of the program; of no value it is not.
  bool IsFeed(uint32_t value) const {
    return value < slots_.size() && program_->plan.values(static_cast<int>(value)).placement() ==
                                        v1::PlanValue::PLACEMENT_FEED;
  }
  // Takes rows [first_row, ...) of a value that somebody else made. Returns: an error for rows that
  // do not belong here or came before.
  absl::Status AddRows(uint32_t value, int64_t first_row, Tensor rows);
  // The next step of this worker, if its operands are here; none while rows are missing or a step
  // is under way.
  std::optional<StepTask> NextStep();
  // Stores what a step made. Returns: an error for what the plan does not expect.
  absl::Status FinishStep(int step, std::vector<Tensor> outputs, const StepStats& stats);
  // The values that a step makes.
  absl::Span<const uint32_t> OutputsOf(int step) const {
    return program_->plan.steps(step).outputs();
  }
  bool done() const { return next_step_ == program_->plan.steps_size() && !executing_; }

  // What `rank` needs of a value that this worker has made; empty if nothing. `first_row` is where
  // it belongs.
  struct Part {
    Tensor rows;
    int64_t first_row = 0;
  };
  std::vector<Part> PartsFor(uint32_t value, int rank) const;
  // The program's results that this worker holds, in the order of the plan's outputs.
  struct Result {
    uint32_t output = 0;  // position among those
    uint32_t value = 0;
    Part part;
  };
  std::vector<Result> Results() const;
  // A value that is here as a whole, made here or elsewhere. REQUIRES: the run is done.
  const Tensor& Whole(uint32_t value) const;

  void Cancel() { cancelled_->store(true); }
  v1::RunCounters& counters() { return counters_; }
  PrintedLines& lines() { return lines_; }

 private:
  // Where a value stands on this worker. A whole value being put together counts the rows that
  // came.
  struct Slot {
    Tensor own;           // rows that this worker made, or the whole of a value made on rank 0
    Tensor received;      // rows or the whole, from elsewhere
    int64_t arrived = 0;  // rows in `received`
    bool has_own = false;
    bool complete = false;  // `received` is all that is needed
  };

  bool IsSplit(uint32_t value) const;
  bool IsHere(const v1::StepOperand& operand) const;
  absl::Status CheckOutputs(absl::Span<const uint32_t> values,
                            absl::Span<const Tensor> outputs) const;
  Tensor OperandOf(const v1::StepOperand& operand, RowRange range) const;
  void AddProfile(const std::string& function, const StepStats& stats);
  // Frees the memory of values that no step from next_step_ on uses.
  void DropUnused();

  const RunSpec spec_;
  const std::shared_ptr<Program> program_;
  const std::shared_ptr<const RunShape> shape_;
  std::vector<Slot> slots_;
  int next_step_ = 0;
  bool executing_ = false;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  v1::RunCounters counters_;
  PrintedLines lines_;
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_RUN_H_
