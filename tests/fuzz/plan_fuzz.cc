// A plan as it reaches a worker: its shapes for a run, its functions as executables, and a run of
// it by a worker that is alone.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/routing.h"
#include "tests/fuzz/plans.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"
#include "worker/dataflow/program.h"
#include "worker/dataflow/run.h"
#include "worker/dataflow/step_runner.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::Plan::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const PartitionedPlan& plan : CorpusPlans()) seeds.push_back(plan.plan.SerializeAsString());
  return seeds;
}

void CheckRanges(const v1::Plan& plan, int64_t n, int world) {
  const absl::StatusOr<RunShape> shape =
      RunShape::Make(plan, {{"n", n}, {"m", 3}, {"k", 2}}, world);
  if (!shape.ok()) return;
  for (int step = 0; step < plan.steps_size(); ++step) {
    for (const v1::StepOperand& operand : plan.steps(step).operands()) {
      if (operand.part() != v1::StepOperand::PART_ROWS) continue;
      int64_t rows = 0;
      for (int rank = 0; rank < world; ++rank) {
        rows += shape->RowsOf(operand.value(), rank).size();
      }
      Require(rows == shape->extents(operand.value())[0], "the ranges of all workers are all rows");
    }
  }
}

constexpr int64_t kMostElements = int64_t{1} << 18;  // of one value
constexpr int64_t kMostArena = int64_t{64} << 20;
constexpr std::chrono::milliseconds kLongest{200};

// Numbers that differ, also as indices and as what loops end by.
Tensor InputOf(DType dtype, const Extents& extents) {
  Tensor tensor = Tensor::Zeros(dtype, extents);
  std::byte* bytes = tensor.raw_mutable_data();
  for (int64_t i = 0; i < tensor.num_bytes(); i += SizeOf(dtype)) {
    bytes[i] = static_cast<std::byte>(i / SizeOf(dtype) % (dtype == DType::kBool ? 2 : 7));
  }
  return tensor;
}

// Errors are as good as results; what a step makes has the types that the plan says, or is refused.
absl::Status RunAlone(const std::shared_ptr<Program>& program, const SymbolBindings& symbols) {
  WEIR_ASSIGN_OR_RETURN(RunShape made, RunShape::Make(program->plan, symbols, 1));
  const auto shape = std::make_shared<const RunShape>(std::move(made));
  for (int i = 0; i < program->plan.values_size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const int64_t elements,
                          CheckedNumElements(shape->extents(i), shape->dtype(i)));
    if (elements > kMostElements) return absl::ResourceExhaustedError("more than is tried");
  }
  Run run({.symbols = symbols,
           .memory_budget = kMostArena,
           .deadline = std::chrono::steady_clock::now() + kLongest},
          program, shape);
  for (const uint32_t input : program->plan.inputs()) {
    if (shape->NeedAt(0, input) == Need::kNothing) continue;
    WEIR_RETURN_IF_ERROR(
        run.AddRows(input, 0, 0, InputOf(shape->dtype(input), shape->extents(input))));
  }
  while (true) {
    WEIR_ASSIGN_OR_RETURN(std::optional<StepTask> task, run.NextStep());
    if (!task.has_value()) break;
    const int step = task->step;
    StepStats stats;
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunStepHere(*std::move(task), {}, &stats));
    WEIR_RETURN_IF_ERROR(run.FinishStep(step, std::move(outputs), stats));
  }
  Require(run.done(), "a run whose inputs are there goes on to its end");
  return absl::OkStatus();
}

}  // namespace

WEIR_FUZZ_TARGET(plan, {.seeds = &Seeds, .words = &ProgramWords, .prototype = &Prototype}) {
  const auto program = std::make_shared<Program>();
  if (!program->plan.ParseFromArray(data, static_cast<int>(size))) return 0;
  for (const int64_t n : {0, 5}) {
    CheckRanges(program->plan, n, 1);
    CheckRanges(program->plan, n, 3);
  }
  if (!PrepareProgram(program.get()).ok()) return 0;
  for (const int64_t n : {0, 5}) {
    RunAlone(program, {{"n", n}, {"m", 3}, {"k", 2}}).IgnoreError();
  }
  return 0;
}

}  // namespace weir
