// A plan as it reaches a worker: its shapes for a run, and its functions as executables.
#include <set>

#include "common/plan/routing.h"
#include "tests/fuzz/plans.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"
#include "worker/dataflow/program.h"

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

}  // namespace

WEIR_FUZZ_TARGET(plan, {.seeds = &Seeds, .words = &ProgramWords, .prototype = &Prototype}) {
  Program program;
  if (!program.plan.ParseFromArray(data, static_cast<int>(size))) return 0;
  for (const int64_t n : {0, 5}) {
    CheckRanges(program.plan, n, 1);
    CheckRanges(program.plan, n, 3);
  }
  (void)PrepareProgram(&program);
  return 0;
}

}  // namespace weir
