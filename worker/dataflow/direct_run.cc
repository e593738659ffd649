#include "worker/dataflow/direct_run.h"

#include <algorithm>

#include "common/base/status.h"
#include "worker/dataflow/run.h"
#include "worker/dataflow/step_runner.h"

namespace weir {
namespace {

constexpr int kWorld = 1;
constexpr int kRank = 0;

absl::Status AddInputs(const v1::Plan& plan, absl::Span<const Tensor> inputs, Run* run) {
  for (int i = 0; i < plan.inputs_size(); ++i) {
    const uint32_t value = plan.inputs(i);
    if (run->shape().NeedAt(kRank, value) == Need::kNothing) continue;
    WEIR_RETURN_IF_ERROR(run->AddRows(value, 0, 0, inputs[i]));
  }
  return absl::OkStatus();
}

std::vector<Tensor> ResultsOf(const v1::Plan& plan, absl::Span<const Tensor> inputs,
                              const Run& run) {
  std::vector<Tensor> results;
  results.reserve(plan.outputs_size());
  for (uint32_t value : plan.outputs()) {
    if (!IsFeed(plan, value)) {
      results.push_back(run.Whole(value));
      continue;
    }
    const auto input = std::find(plan.inputs().begin(), plan.inputs().end(), value);
    results.push_back(inputs[input - plan.inputs().begin()]);
  }
  return results;
}

}  // namespace

bool Prints(const Program& program) {
  for (int64_t i = 0; i < program.graph->num_nodes(); ++i) {
    if (program.graph->node(NodeId(i)).op == "print") return true;
  }
  return false;
}

absl::StatusOr<DirectRun> DirectRun::Make(const Program& program, SymbolBindings symbols) {
  WEIR_ASSIGN_OR_RETURN(RunShape shape, RunShape::Make(program.plan, symbols, kWorld));
  return DirectRun(std::move(symbols), std::make_shared<const RunShape>(std::move(shape)));
}

std::optional<std::chrono::nanoseconds> DirectRun::Predict(const Program& program) const {
  std::chrono::nanoseconds sum{0};
  for (size_t step = 0; step < program.paces.size(); ++step) {
    const StepPace& pace = *program.paces[step];
    if (program.steps[step] == nullptr || pace.times() == 0) continue;
    const std::optional<int64_t> ns = pace.Predict(shape_->step(static_cast<int>(step)).extent);
    if (!ns.has_value()) return std::nullopt;
    sum += pace.times() * std::chrono::nanoseconds(*ns);
  }
  return sum;
}

absl::StatusOr<std::vector<Tensor>> DirectRun::Run(const std::shared_ptr<Program>& program,
                                                   absl::Span<const Tensor> inputs,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   std::shared_ptr<std::atomic<bool>> cancelled,
                                                   absl::Span<ComputePool* const> helpers) const {
  weir::Run run(
      {.rank = kRank, .symbols = symbols_, .deadline = deadline, .cancelled = std::move(cancelled)},
      program, shape_);
  WEIR_RETURN_IF_ERROR(AddInputs(program->plan, inputs, &run));
  while (true) {
    WEIR_ASSIGN_OR_RETURN(std::optional<StepTask> task, run.NextStep());
    if (!task.has_value()) break;
    const int step = task->step;
    StepStats stats;
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                          RunStepHere(*std::move(task), helpers, &stats));
    WEIR_RETURN_IF_ERROR(run.FinishStep(step, std::move(outputs), stats));
  }
  return ResultsOf(program->plan, inputs, run);
}

}  // namespace weir
