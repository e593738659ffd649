// Loops whose trips workers share: compiled programs run by some workers, in many orders of
// messages, against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/tensor/compare.h"
#include "server/compiler/pipeline.h"
#include "tests/programs/plan_world.h"
#include "worker/dataflow/run.h"
#include "worker/dataflow/step_runner.h"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr char kRow[] =
    "{offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], "
    "start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, "
    "slice_sizes = (1)}";

// Each iteration makes as many trips as its number says, and adds up what all still on their way
// have.
const std::string kOwnTrips = StrCat(R"(
  func @main(%x: i64[n]) -> (i64[n] "sums") {
    %zero = constant {value = i64[] {0}}
    %one = constant {value = i64[] {1}}
    %out = pfor {extent = (n)} (%i: i64[]) {
      %own = gather(%x, %i) )",
                                     kRow, R"(
      %left, %seen = while(%own, %zero) (%a: i64[], %b: i64[]) {
        %more = greater(%a, %zero)
        yield %more
      } (%c: i64[], %d: i64[]) {
        %met = iteration_reduce(%c) {extent = (n), kind = "sum"}
        %next = subtract(%c, %one)
        %grown = add(%d, %met)
        yield %next, %grown
      }
      yield %seen
    }
    return %out
  })");

// A step towards the mean in each of some trips, which are collected; a loop inside of the loop.
const std::string kNested = StrCat(R"(
  func @main(%x: i64[n], %trips: i64[]) -> (i64[] "w", i64[3] "all") {
    %zero = constant {value = i64[] {0}}
    %three = constant {value = i64[] {3}}
    %w, %all = for(%three, %zero) {extent = (3)} (%t: i64[], %v: i64[]) {
      %u = for(%trips, %v) (%s: i64[], %k: i64[]) {
        %steps = pfor {extent = (n)} (%i: i64[]) {
          %own = gather(%x, %i) )",
                                   kRow, R"(
          %far = subtract(%own, %k)
          %scaled = multiply(%far, %t)
          yield %scaled
        }
        %sum = reduce_sum(%steps) {axes = [0]}
        %next = add(%k, %sum)
        yield %next
      }
      yield %u, %u
    }
    return %w, %all
  })");

// State by rows that each trip updates in one place, behind what all have in common.
const std::string kLists = StrCat(R"(
  func @main(%x: i64[n]) -> (i64[n,4] "pushed", i64[4] "sums") {
    %zero = constant {value = i64[] {0}}
    %four = constant {value = i64[] {4}}
    %none = broadcast_in_dim(%zero) {axes = [], shape = (4)}
    %out, %sums = pfor {extent = (n)} (%i: i64[]) {
      %own = gather(%x, %i) )",
                                  kRow, R"(
      %list, %last = for(%four, %none, %own) (%t: i64[], %l: i64[4], %a: i64[]) {
        %all = iteration_reduce(%a) {extent = (n), kind = "sum"}
        %b = subtract(%all, %a)
        %item = reshape(%b) {shape = (1)}
        %longer = dynamic_update_slice(%l, %item, %t)
        yield %longer, %b
      }
      %sum = iteration_reduce(%list) {extent = (n), kind = "sum"}
      yield %list, %sum
    }
    %first = slice(%sums) {start = (0, 0), limit = (min(n, 1), 4), stride = [1, 1]}
    %s = reduce_sum(%first) {axes = [0]}
    return %out, %s
  })");

// Fails in the trip that `bad` says.
const std::string kCheck = StrCat(R"(
  func @main(%x: i64[n], %bad: i64[]) -> (i64[] "w") {
    %zero = constant {value = i64[] {0}}
    %five = constant {value = i64[] {5}}
    %w = for(%five, %zero) (%t: i64[], %v: i64[]) {
      %rows = pfor {extent = (n)} (%i: i64[]) {
        %own = gather(%x, %i) )",
                                  kRow, R"(
        %y = multiply(%own, %v)
        yield %y
      }
      %good = not_equal(%t, %bad)
      check(%good) {message = "a bad trip"}
      %sum = reduce_sum(%rows) {axes = [0]}
      %next = add(%v, %sum)
      yield %next
    }
    return %w
  })");

struct Case {
  Graph graph;
  Graph compiled;
  std::shared_ptr<Program> program;
  std::vector<std::string> notes;
};

Case CaseOf(const std::string& text, CompileOptions::Trips trips = CompileOptions::Trips::kSplit) {
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<Compiled> compiled = Compile(*graph, {.trips = trips});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto program = Prepared(compiled->plan);
  EXPECT_TRUE(program.ok()) << program.status();
  return {*std::move(graph), compiled->graph, *std::move(program), compiled->report.notes};
}

Tensor Numbers(int64_t n) {
  Tensor x(DType::kI64, {n});
  for (int64_t i = 0; i < n; ++i) x.mutable_data<int64_t>()[i] = (i * 7) % 5;
  return x;
}

int CountOf(const v1::Plan& plan, v1::Step::Control control) {
  return static_cast<int>(
      std::count_if(plan.steps().begin(), plan.steps().end(),
                    [&](const v1::Step& step) { return step.control() == control; }));
}

void CheckAgainstTheInterpreter(const Case& c, const std::vector<Tensor>& more = {}) {
  for (int64_t n : {0, 1, 2, 5, 700}) {
    std::vector<Tensor> inputs = {Numbers(n)};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const auto want = Interpret(c.graph, inputs, {.symbols = {{"n", n}}});
    ASSERT_TRUE(want.ok()) << want.status();
    for (int workers : {1, 2, 3}) {
      for (uint64_t seed = 0; seed < 5; ++seed) {
        const PlanOutcome got = RunPlan(c.program, inputs, {{"n", n}}, workers, seed);
        ASSERT_TRUE(got.results.ok()) << got.results.status();
        for (size_t i = 0; i < want->size(); ++i) {
          EXPECT_EQ(Difference((*got.results)[i], (*want)[i]), "")
              << "result " << i << " on " << workers << " workers, n = " << n;
        }
      }
    }
  }
}

TEST(SharedTripsTest, IterationsGoTheirOwnWayAndMeetInEachTrip) {
  const Case c = CaseOf(kOwnTrips);
  EXPECT_EQ(CountOf(c.program->plan, v1::Step::CONTROL_ENTER), 1);
  EXPECT_EQ(CountOf(c.program->plan, v1::Step::CONTROL_WHOLE), 0);
  ASSERT_EQ(c.notes.size(), 1u);
  EXPECT_THAT(c.notes[0], HasSubstr("3 stay where their rows are"));
  CheckAgainstTheInterpreter(c);
}

TEST(SharedTripsTest, LoopsNestAndCollect) {
  const Case c = CaseOf(kNested);
  EXPECT_EQ(CountOf(c.program->plan, v1::Step::CONTROL_ENTER), 2);
  for (int64_t trips : {-1, 0, 1, 3}) {
    CheckAgainstTheInterpreter(c, {Tensor::Scalar<int64_t>(trips)});
  }
}

// A list that each trip pushes to costs its element: nobody else holds it, so it stays where it is.
TEST(SharedTripsTest, StateThatIsUpdatedStaysWhereItIs) {
  const Case c = CaseOf(kLists);
  CheckAgainstTheInterpreter(c);
  auto shape = RunShape::Make(c.program->plan, {{"n", 5}}, 1);
  ASSERT_TRUE(shape.ok()) << shape.status();
  weir::Run run({.id = 1, .symbols = {{"n", 5}}}, c.program,
                std::make_shared<const RunShape>(*std::move(shape)));
  ASSERT_TRUE(run.AddRows(c.program->plan.inputs(0), 0, 0, Numbers(5)).ok());
  int in_place = 0;
  while (true) {
    absl::StatusOr<std::optional<StepTask>> task = run.NextStep();
    ASSERT_TRUE(task.ok()) << task.status();
    if (!task->has_value()) break;
    const int step = (*task)->step;
    std::vector<const std::byte*> given;
    for (size_t i = 0; i < (*task)->operands.size(); ++i) {
      if ((*task)->given[i]) given.push_back((*task)->operands[i].raw_data());
    }
    StepStats stats;
    auto outputs = RunStepHere(**std::move(task), {}, &stats);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (const Tensor& output : *outputs) {
      in_place += static_cast<int>(std::count(given.begin(), given.end(), output.raw_data()));
    }
    ASSERT_TRUE(run.FinishStep(step, *std::move(outputs), stats).ok());
  }
  EXPECT_EQ(in_place, 4) << "of four trips";
}

TEST(SharedTripsTest, StepsDoNotDependOnTrips) {
  std::string few = kCheck, many = kCheck;
  many.replace(many.find("{5}"), 3, "{500000}");
  EXPECT_EQ(CaseOf(few).program->plan.steps_size(), CaseOf(many).program->plan.steps_size());
}

// Trips of little work run on rank 0 in one function, others are shared: the results are the same.
TEST(SharedTripsTest, WhatIsTooLittleRunsWhole) {
  const Case c = CaseOf(kOwnTrips, CompileOptions::Trips::kSplitByWork);
  EXPECT_EQ(CountOf(c.program->plan, v1::Step::CONTROL_WHOLE), 1);
  CheckAgainstTheInterpreter(c);
  const auto launches = [&](int64_t n, int workers) {
    const PlanOutcome got = RunPlan(c.program, {Numbers(n)}, {{"n", n}}, workers, 1);
    EXPECT_TRUE(got.results.ok()) << got.results.status();
    return got.counters.chunks();
  };
  EXPECT_EQ(launches(100, 2), 2 * 2) << "the pfors in front of the loop and behind it";
  EXPECT_GT(launches(200'000, 2), 2 * 6) << "each trip is cut into chunks";
}

TEST(SharedTripsTest, RowsRunAsOftenAsTheirTripsSay) {
  const Case c = CaseOf(kOwnTrips);
  const Tensor x = Numbers(700);
  int64_t trips = 0;
  for (int64_t i = 0; i < 700; ++i) trips += x.data<int64_t>()[i];
  for (int workers : {1, 2, 3}) {
    const PlanOutcome got = RunPlan(c.program, {x}, {{"n", 700}}, workers, 1);
    // Each runs in the two parts that its reduction cuts a trip into; and those that do not, in the
    // branches that do nothing.
    EXPECT_EQ(got.counters.rows_run() % 700, 0) << workers;
    const PlanOutcome alone = RunPlan(c.program, {x}, {{"n", 700}}, 1, 1);
    EXPECT_EQ(got.counters.rows_run(), alone.counters.rows_run());
    EXPECT_GE(got.counters.rows_run(), trips);
  }
}

TEST(SharedTripsTest, ACheckThatFailsInATripEndsTheRun) {
  const Case c = CaseOf(kCheck);
  for (int64_t bad : {0, 3}) {
    for (int workers : {1, 3}) {
      const PlanOutcome got =
          RunPlan(c.program, {Numbers(5), Tensor::Scalar<int64_t>(bad)}, {{"n", 5}}, workers, 1);
      EXPECT_TRUE(absl::IsFailedPrecondition(got.results.status())) << got.results.status();
      EXPECT_THAT(std::string(got.results.status().message()), HasSubstr("a bad trip"));
    }
  }
  EXPECT_TRUE(
      RunPlan(c.program, {Numbers(5), Tensor::Scalar<int64_t>(7)}, {{"n", 5}}, 3, 1).results.ok());
}

}  // namespace
}  // namespace weir
