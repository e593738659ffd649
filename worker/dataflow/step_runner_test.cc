#include "worker/dataflow/step_runner.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "google/protobuf/text_format.h"

namespace weir {
namespace {

std::shared_ptr<Program> ProgramOf(const std::string& plan) {
  auto program = std::make_shared<Program>();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(plan, &program->plan));
  const absl::Status prepared = PrepareProgram(program.get());
  EXPECT_TRUE(prepared.ok()) << prepared;
  return program;
}

// One step that takes all rows, for `rows` rows. Returns: whether the caller's thread ran it.
bool RunsHere(const std::shared_ptr<Program>& program, int64_t rows, ComputePool* pool) {
  StepTask task;
  task.program = program;
  task.symbols = {{"n", rows}};
  task.operands = {Tensor::Zeros(DType::kF32, {rows})};
  if (!program->plan.steps(0).extent().empty()) task.range = {0, rows};
  std::promise<std::thread::id> ran_on;
  RunStep(std::move(task), pool,
          [&](absl::StatusOr<std::vector<Tensor>> outputs, const StepStats&) {
            EXPECT_TRUE(outputs.ok()) << outputs.status();
            EXPECT_EQ(outputs.ok() ? (*outputs)[0].extents() : Extents(), Extents{rows});
            ran_on.set_value(std::this_thread::get_id());
          });
  return ran_on.get_future().get() == std::this_thread::get_id();
}

// Whether it ever does so: on a busy machine a run of a short step may have taken long.
bool ComesToRunHere(const std::shared_ptr<Program>& program, int64_t rows, ComputePool* pool) {
  for (int i = 0; i < 50; ++i) {
    if (RunsHere(program, rows, pool)) return true;
  }
  return false;
}

constexpr char kWhole[] = R"(
  program: "func @f(%x: f32[n]) -> (f32[n]) { %y = add(%x, %x) return %y }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_ROOT }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } })";

constexpr char kRows[] = R"(
  program: "func @f(%first: i64[], %x: f32[m]) -> (f32[m]) { %y = add(%x, %x) return %y }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  steps { function: "f" extent: "n" local: "m" outputs: 1
          operands { value: 0 part: PART_ROWS } })";

constexpr char kLoop[] = R"(
  program: "func @f(%x: f32[n]) -> (f32[n]) {"
    "  %trips = constant {value = i64[] {2}} : i64[]"
    "  %y = for(%trips, %x) (%i: i64[], %s: f32[n]) {"
    "    %t = add(%s, %s) yield %t }"
    "  return %y }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_ROOT }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } })";

// No machine has 8 TB of memory for it.
constexpr char kLargeResult[] = R"(
  program: "func @f(%x: f32[2]) -> (f32[2,1000000,1000000]) {"
    "  %y = broadcast_in_dim(%x) {shape = (2,1000000,1000000), axes = [0]}"
    "  return %y }"
  values { name: "x" type: "f32[2]" placement: PLACEMENT_ROOT }
  values { name: "y" type: "f32[2,1000000,1000000]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } })";

constexpr char kLargeRows[] = R"(
  program: "func @f(%first: i64[], %x: f32[m]) -> (f32[m,1000000,1000000]) {"
    "  %y = broadcast_in_dim(%x) {shape = (m,1000000,1000000), axes = [0]}"
    "  return %y }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n,1000000,1000000]" placement: PLACEMENT_SPLIT }
  steps { function: "f" extent: "n" local: "m" outputs: 1
          operands { value: 0 part: PART_ROWS } })";

constexpr char kLargeIntermediate[] = R"(
  program: "func @f(%x: f32[2]) -> (f32[2]) {"
    "  %y = broadcast_in_dim(%x) {shape = (2,1000000,1000000), axes = [0]}"
    "  %z = sort(%y) {axis = 2, descending = false, is_stable = true}"
    "  %s = reduce_sum(%z) {axes = [1, 2]}"
    "  return %s }"
  values { name: "x" type: "f32[2]" placement: PLACEMENT_ROOT }
  values { name: "y" type: "f32[2]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } })";

TEST(StepRunnerTest, AStepIsSplitWithASymbolForAPartOrNotAtAll) {
  const std::vector<std::pair<std::string, std::string>> wrong = {{kRows, R"(local: "m")"},
                                                                  {kRows, R"(extent: "n")"}};
  for (const auto& [plan, what] : wrong) {
    Program program;
    std::string text = plan;
    text.erase(text.find(what), what.size());
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &program.plan));
    EXPECT_EQ(PrepareProgram(&program).code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(StepRunnerTest, WhatNoMemoryHoldsIsAnErrorOfTheStep) {
  ComputePool pool(2);
  for (const char* plan : {kLargeResult, kLargeRows, kLargeIntermediate}) {
    StepTask task;
    task.program = ProgramOf(plan);
    task.symbols = {{"n", 2}};
    task.operands = {Tensor::Zeros(DType::kF32, {2})};
    if (!task.program->plan.steps(0).extent().empty()) task.range = {0, 2};
    std::promise<absl::Status> ended;
    RunStep(std::move(task), &pool,
            [&](const absl::StatusOr<std::vector<Tensor>>& outputs, const StepStats&) {
              ended.set_value(outputs.status());
            });
    EXPECT_EQ(ended.get_future().get().code(), absl::StatusCode::kResourceExhausted) << plan;
  }
}

// Elements of x from i on become those of u.
constexpr char kUpdate[] = R"(
  program: "func @f(%x: i64[n], %u: i64[1], %i: i64[]) -> (i64[n]) {"
    "  %y = dynamic_update_slice(%x, %u, %i) return %y }"
  values { name: "x" type: "i64[n]" placement: PLACEMENT_ROOT }
  values { name: "u" type: "i64[1]" placement: PLACEMENT_ROOT }
  values { name: "i" type: "i64[]" placement: PLACEMENT_ROOT }
  values { name: "y" type: "i64[n]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 3 operands { value: 0 part: PART_WHOLE }
          operands { value: 1 part: PART_WHOLE } operands { value: 2 part: PART_WHOLE } })";

TEST(StepRunnerTest, AnOperandThatWasGivenAwayIsUpdatedWhereItLies) {
  const std::shared_ptr<Program> program = ProgramOf(kUpdate);
  for (const bool given : {false, true}) {
    const Tensor x = Tensor::Of<int64_t>({4}, {1, 2, 3, 4});
    StepTask task;
    task.program = program;
    task.symbols = {{"n", 4}};
    task.operands = {x, Tensor::Of<int64_t>({1}, {9}), Tensor::Scalar<int64_t>(2)};
    task.given = {given, false, false};
    StepStats stats;
    auto outputs = RunStepHere(std::move(task), {}, &stats);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_TRUE((*outputs)[0].BitEquals(Tensor::Of<int64_t>({4}, {1, 2, 9, 4})));
    EXPECT_EQ((*outputs)[0].buffer() == x.buffer(), given);
    EXPECT_EQ(x.At<int64_t>({2}), given ? 9 : 3);
  }
}

TEST(StepRunnerTest, AStepThatWasShortRunsOnTheThreadOfTheCaller) {
  ComputePool pool(2);
  for (const char* plan : {kWhole, kRows}) {
    const std::shared_ptr<Program> program = ProgramOf(plan);
    EXPECT_FALSE(RunsHere(program, 200, &pool)) << "before it was measured";
    EXPECT_TRUE(ComesToRunHere(program, 200, &pool)) << plan;
    EXPECT_FALSE(RunsHere(program, 201, &pool)) << "with other extents";
  }
}

// Runs kRows on this thread with helpers, after it took so long. Returns: how many threads its
// chunks were for.
int64_t ThreadsHere(const std::shared_ptr<Program>& program, int64_t rows, int64_t took_ns,
                    absl::Span<ComputePool* const> helpers) {
  StepTask task;
  task.program = program;
  task.symbols = {{"n", rows}};
  Tensor x(DType::kF32, {rows});
  for (int64_t i = 0; i < rows; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  task.operands = {x};
  task.range = {0, rows};
  program->paces[0]->Took(task.symbols, task.range, took_ns);
  StepStats stats;
  const auto outputs = RunStepHere(std::move(task), helpers, &stats);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return 0;
  int64_t wrong = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if ((*outputs)[0].data<float>()[i] != 2 * x.data<float>()[i]) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
  return stats.chunking.threads;
}

TEST(StepRunnerTest, OthersHelpWithALongStepOfWhomeverWaitsForIt) {
  const std::shared_ptr<Program> program = ProgramOf(kRows);
  ComputePool one(1), two(2);
  ComputePool* const helpers[] = {&one, &two};
  EXPECT_EQ(ThreadsHere(program, 100'000, 1'000'000, helpers), 4);
  EXPECT_EQ(ThreadsHere(program, 100'000, 1'000, helpers), 1) << "a short one";
  EXPECT_EQ(ThreadsHere(program, 100'000, 1'000'000, {}), 1);
  EXPECT_EQ(ThreadsHere(program, 1, 1'000'000, helpers), 1) << "a row is one thread's";
}

TEST(StepRunnerTest, AHelperThatIsAtSomethingElseIsNotWaitedFor) {
  const std::shared_ptr<Program> program = ProgramOf(kRows);
  std::promise<void> begun, ends;
  ComputePool busy(1);
  busy.Submit([&] {
    begun.set_value();
    ends.get_future().wait();
  });
  begun.get_future().wait();
  ComputePool* const helpers[] = {&busy};
  EXPECT_EQ(ThreadsHere(program, 100'000, 1'000'000, helpers), 2);
  ends.set_value();
}

TEST(StepRunnerTest, AStepThatTakesLongDoesNot) {
  ComputePool pool(1);
  const std::shared_ptr<Program> program = ProgramOf(kWhole);
  EXPECT_FALSE(ComesToRunHere(program, 4'000'000, &pool));
}

TEST(StepRunnerTest, AStepWithALoopDoesNot) {
  ComputePool pool(1);
  EXPECT_FALSE(ComesToRunHere(ProgramOf(kLoop), 1, &pool));
}

}  // namespace
}  // namespace weir
