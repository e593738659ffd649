// One run of a plan on one worker: the values that are here, the steps that are done, and what is
// still to come. Owned by the core; thread-compatible.
#ifndef WEIR_WORKER_DATAFLOW_RUN_H_
#define WEIR_WORKER_DATAFLOW_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
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
    return value < slots_.size() && weir::IsFeed(program_->plan, value);
  }
  // Takes rows [first_row, ...) of a value that somebody else made, `version` being how often it
  // was made before. Rows of later trips wait. Returns: an error for rows that do not belong here
  // or came before.
  absl::Status AddRows(uint32_t value, uint64_t version, int64_t first_row, Tensor rows);
  // The next step of this worker, if its operands are here; none while rows are missing or a step
  // is under way. Loops go round here. Returns: an error if memory is short.
  absl::StatusOr<std::optional<StepTask>> NextStep();
  // Stores what a step made. Returns: an error for what the plan does not expect.
  absl::Status FinishStep(int step, std::vector<Tensor> outputs, const StepStats& stats);
  bool done() const { return next_step_ == program_->plan.steps_size() && !executing_; }

  // Rows of a value; `first_row` is where they belong.
  struct Part {
    Tensor rows;
    int64_t first_row = 0;
  };
  // What this worker has made and another one needs.
  struct Outgoing {
    int rank = 0;
    uint32_t value = 0;
    uint64_t version = 0;
    Part part;
  };
  // What is to be sent since the last call.
  std::vector<Outgoing> TakeOutgoing() { return std::exchange(outgoing_, {}); }
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
  // Rows or the whole of a value, from elsewhere. A whole value being put together counts the rows
  // that came.
  struct Arrival {
    uint64_t version = 0;
    Tensor rows;
    int64_t arrived = 0;
    bool complete = false;  // this is all that is needed
  };
  // Where a value stands on this worker.
  struct Slot {
    Tensor own;  // rows that this worker made, or the whole of a value made on rank 0
    bool has_own = false;
    bool is_fresh = false;          // `own` lies in memory that a step of this worker took
    uint64_t made = 0;              // times that this worker came by what makes it
    std::vector<Arrival> arrivals;  // of the last time, and of later ones
  };

  bool IsSplit(uint32_t value) const;
  // What came from elsewhere of the value as it is now, or null while something is missing.
  const Arrival* Received(uint32_t value) const;
  absl::Status AddSplitRows(uint32_t value, int64_t first_row, Tensor rows, Arrival* arrival) const;
  bool IsHere(const v1::StepOperand& operand) const;
  // Whether this worker takes part in a step that carries values.
  bool Carries(const v1::StepOperand& operand) const;
  // What a step takes that carries values.
  std::vector<v1::StepOperand> CarriedBy(int step) const;
  bool OperandsAreHere(int step) const;
  StepTask TaskOf(int step);
  // Gives up what this worker holds of a value if the step is the last one that uses it. Returns:
  // whether it lies in memory that steps may write to.
  bool GiveUp(uint32_t value, int step);
  absl::Status RunControl();
  // Whether all others have begun the trip before the one that a value of rank 0 decides.
  bool IsAnswered(uint32_t value) const;
  void Answer(uint32_t value);
  absl::Status Carry();
  // This worker comes by a step: what it makes is something new from now on.
  void PassBy(int step);
  // Keeps what this worker made of a value, and notes who needs it.
  absl::Status Store(uint32_t value, Tensor made, bool is_fresh);
  void SendTo(int rank, uint32_t value);
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
  std::vector<int64_t> ran_;  // by step: times
  // By what a test of rank 0 tests, and its version: workers that came by it.
  std::map<std::pair<uint32_t, uint64_t>, int> answers_;
  std::vector<Outgoing> outgoing_;
  int next_step_ = 0;
  bool executing_ = false;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  v1::RunCounters counters_;
  PrintedLines lines_;
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_RUN_H_
