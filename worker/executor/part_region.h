// A region that runs for a number of rows that is known only when it is entered. Holds what a run
// needs, so that a warm one allocates nothing. Owned by a step's state; used by one thread at a
// time.
#ifndef WEIR_WORKER_EXECUTOR_PART_REGION_H_
#define WEIR_WORKER_EXECUTOR_PART_REGION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/executor/control.h"
#include "worker/executor/control_step.h"
#include "worker/executor/workspace.h"

namespace weir {

class PartRegion {
 public:
  // `local`: the symbol of the number of rows. `args`: row-major layouts of the arguments for as
  // many rows as there may be; the first `num_shared` are no rows. REQUIRES: plan outlives it.
  static absl::StatusOr<PartRegion> Create(const RegionPlan& plan, const SymbolBindings& symbols,
                                           const std::string& local, std::vector<Layout> args,
                                           int num_shared, const std::vector<Layout>& captures);

  int num_args() const { return num_args_; }
  void set_arg(int i, std::byte* data) { views_[i].data = data; }
  // Row-major memory for the rows of a result.
  void set_result(int i, std::byte* data) { results_[i] = data; }
  // What it is entered with for so many rows.
  FunctionEntry EntryFor(int64_t rows) const;
  // Runs region `index` of the step for `rows` rows, with the step's captures.
  absl::Status Run(int64_t rows, const ControlRun& step, int index);

 private:
  absl::StatusOr<Workspace::Impl::Lease> Acquire(int64_t rows, RunContext* context);

  const RegionPlan* plan_ = nullptr;
  int num_args_ = 0;
  int num_shared_ = 0;
  SymbolBindings symbols_;
  std::string local_;
  std::vector<Layout> layouts_;  // of arguments, then captures
  std::vector<cpu::View> views_;
  std::vector<std::byte*> results_;

  // Where the activation for a number of rows was the last time; nothing else differs between runs.
  struct Known {
    int64_t rows = -1;
    Workspace::Impl::Place place;
  };
  static constexpr size_t kKnown = 256;
  std::vector<Known> known_;  // by rows modulo kKnown
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_PART_REGION_H_
