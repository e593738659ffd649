#include "worker/dataflow/direct_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/tensor/compare.h"
#include "google/protobuf/text_format.h"

namespace weir {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr auto kNever = steady_clock::time_point::max();

// y by rows, then its reverse on one worker, then the sum of both by rows. The results: the sum, an
// input, and the sum again.
constexpr char kThreeSteps[] = R"(
  program: "func @twice(%first: i64[], %x: f32[m]) -> (f32[m]) { %y = add(%x, %x) return %y }"
    " func @mirror(%y: f32[n]) -> (f32[n]) { %r = reverse(%y) {axes = [0]} return %r }"
    " func @sum(%first: i64[], %y: f32[m], %r: f32[m]) -> (f32[m]) {"
    "   %s = add(%y, %r) return %s }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "r" type: "f32[n]" placement: PLACEMENT_ROOT }
  values { name: "s" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "unused" type: "f32[]" placement: PLACEMENT_FEED }
  steps { function: "twice" extent: "n" local: "m" outputs: 1
          operands { value: 0 part: PART_ROWS } }
  steps { function: "mirror" outputs: 2 operands { value: 1 part: PART_WHOLE } }
  steps { function: "sum" extent: "n" local: "m" outputs: 3
          operands { value: 1 part: PART_ROWS } operands { value: 2 part: PART_ROWS } }
  inputs: 4 inputs: 0 outputs: 3 outputs: 0 outputs: 3)";

// Counts to x.
constexpr char kCount[] = R"(
  program: "func @f(%x: i64[]) -> (i64[]) {"
    "  %zero = constant {value = i64[] {0}}"
    "  %one = constant {value = i64[] {1}}"
    "  %y = while(%zero) (%i: i64[]) { %go = less(%i, %x) yield %go }"
    "    (%j: i64[]) { %next = add(%j, %one) yield %next }"
    "  return %y }"
  values { name: "x" type: "i64[]" placement: PLACEMENT_FEED }
  values { name: "y" type: "i64[]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } }
  inputs: 0 outputs: 1)";

constexpr char kCheck[] = R"(
  program: "func @f(%x: bool[]) -> (bool[]) {"
    "  check(%x) {message = \"must hold\"} return %x }"
  values { name: "x" type: "bool[]" placement: PLACEMENT_FEED }
  values { name: "y" type: "bool[]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } }
  inputs: 0 outputs: 1)";

constexpr char kPrint[] = R"(
  program: "func @f(%x: f32[]) -> (f32[]) {"
    "  %y = add(%x, %x) "
    "  print(%y) {message = \"{}\", place = [1], rows = 0} return %y }"
  values { name: "x" type: "f32[]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[]" placement: PLACEMENT_ROOT }
  steps { function: "f" outputs: 1 operands { value: 0 part: PART_WHOLE } }
  inputs: 0 outputs: 1)";

std::shared_ptr<Program> ProgramOf(const std::string& plan) {
  auto program = std::make_shared<Program>();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(plan, &program->plan));
  const absl::Status prepared = PrepareProgram(program.get());
  EXPECT_TRUE(prepared.ok()) << prepared;
  return program;
}

DirectRun DirectOf(const Program& program, const SymbolBindings& symbols = {}) {
  absl::StatusOr<DirectRun> made = DirectRun::Make(program, symbols);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

TEST(DirectRunTest, RunsEveryStepAndAnswersInTheOrderOfThePlan) {
  const std::shared_ptr<Program> program = ProgramOf(kThreeSteps);
  for (int64_t n : {0, 1, 3, 100}) {
    const DirectRun direct = DirectOf(*program, {{"n", n}});
    Tensor x(DType::kF32, {n});
    Tensor want(DType::kF32, {n});
    for (int64_t i = 0; i < n; ++i) {
      x.mutable_data<float>()[i] = static_cast<float>(i);
      want.mutable_data<float>()[i] = static_cast<float>(2 * (n - 1));
    }
    for (int run = 0; run < 3; ++run) {
      auto results = direct.Run(program, {Tensor::Scalar<float>(1), x}, kNever, nullptr);
      ASSERT_TRUE(results.ok()) << results.status();
      ASSERT_EQ(results->size(), 3);
      EXPECT_TRUE((*results)[0].BitEquals(want)) << (*results)[0].ToString();
      EXPECT_TRUE((*results)[1].BitEquals(x));
      EXPECT_TRUE((*results)[2].BitEquals(want));
    }
  }
}

TEST(DirectRunTest, ThreadsThatHelpChangeNoBit) {
  const std::shared_ptr<Program> program = ProgramOf(kThreeSteps);
  constexpr int64_t kRows = 100'000;
  const SymbolBindings symbols = {{"n", kRows}};
  const DirectRun direct = DirectOf(*program, symbols);
  Tensor x(DType::kF32, {kRows});
  for (int64_t i = 0; i < kRows; ++i) x.mutable_data<float>()[i] = 1 / static_cast<float>(i + 1);
  const auto want = direct.Run(program, {Tensor::Scalar<float>(1), x}, kNever, nullptr);
  ASSERT_TRUE(want.ok()) << want.status();
  ComputePool one(1), two(2);
  ComputePool* const helpers[] = {&one, &two};
  for (int run = 0; run < 20; ++run) {
    // As if all took long.
    for (const auto& pace : program->paces) pace->Took(symbols, {0, kRows}, 1'000'000'000);
    const auto got = direct.Run(program, {Tensor::Scalar<float>(1), x}, kNever, nullptr, helpers);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < want->size(); ++i) EXPECT_TRUE((*got)[i].BitEquals((*want)[i])) << i;
  }
}

TEST(DirectRunTest, RefusesSymbolsThatThePlanCannotHave) {
  const std::shared_ptr<Program> program = ProgramOf(kThreeSteps);
  EXPECT_TRUE(absl::IsInvalidArgument(DirectRun::Make(*program, {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(DirectRun::Make(*program, {{"n", -1}}).status()));
}

TEST(DirectRunTest, PredictsFromWhatEachStepTookForAnyNumberOfIterations) {
  const std::shared_ptr<Program> program = ProgramOf(kThreeSteps);
  const SymbolBindings symbols = {{"n", 10}};
  const DirectRun direct = DirectOf(*program, symbols);
  EXPECT_EQ(direct.Predict(*program), std::nullopt);
  program->paces[0]->Took(symbols, {5, 10}, 1000);
  program->paces[1]->Took(symbols, {}, 30);
  EXPECT_EQ(direct.Predict(*program), std::nullopt) << "one step has not run";
  program->paces[2]->Took(symbols, {0, 10}, 400);
  EXPECT_EQ(direct.Predict(*program), std::chrono::nanoseconds(2 * 1000 + 30 + 400));
}

TEST(DirectRunTest, ALoopThatGoesOnBeyondTheDeadlineEnds) {
  const std::shared_ptr<Program> program = ProgramOf(kCount);
  const DirectRun direct = DirectOf(*program);
  auto counted = direct.Run(program, {Tensor::Scalar<int64_t>(500)},
                            steady_clock::now() + std::chrono::hours(1), nullptr);
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ((*counted)[0].At<int64_t>({}), 500);
  const int64_t forever = std::numeric_limits<int64_t>::max();
  auto endless = direct.Run(program, {Tensor::Scalar<int64_t>(forever)},
                            steady_clock::now() + std::chrono::milliseconds(5), nullptr);
  EXPECT_TRUE(absl::IsDeadlineExceeded(endless.status())) << endless.status();
}

TEST(DirectRunTest, ErrorsNameTheNode) {
  const std::shared_ptr<Program> program = ProgramOf(kCheck);
  const DirectRun direct = DirectOf(*program);
  EXPECT_TRUE(direct.Run(program, {Tensor::Scalar<bool>(true)}, kNever, nullptr).ok());
  const auto failed = direct.Run(program, {Tensor::Scalar<bool>(false)}, kNever, nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(failed.status())) << failed.status();
  EXPECT_THAT(std::string(failed.status().message()), HasSubstr("must hold"));
}

TEST(DirectRunTest, KnowsWhichProgramsPrint) {
  EXPECT_TRUE(Prints(*ProgramOf(kPrint)));
  EXPECT_FALSE(Prints(*ProgramOf(kCount)));
}

}  // namespace
}  // namespace weir
