#include "common/plan/plan_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/str_cat.h"
#include "common/plan/routing.h"
#include "google/protobuf/text_format.h"

namespace weir {
namespace {

using testing::HasSubstr;

// Rows x become y, trip by trip; an inner loop carries y too. Values: 0 x, 1 goes on (a feed), 2 y,
// 3 decides, 4 z, 5 the inner y, 6 the inner decision, 7 inner z.
constexpr char kValues[] = R"(
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "more" type: "bool[]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "decides" type: "bool[]" placement: PLACEMENT_ROOT }
  values { name: "z" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "inner_y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "inner_decides" type: "bool[]" placement: PLACEMENT_ROOT }
  values { name: "inner_z" type: "f32[n]" placement: PLACEMENT_SPLIT }
  inputs: [0, 1] )";

std::string Carry(const std::string& control, int from, int to) {
  return StrCat("steps { control: CONTROL_", control, " operands { value: ", from,
                " part: PART_ROWS } outputs: ", to, " } ");
}

std::string Root(int from, int to) {
  return StrCat("steps { function: 'r' operands { value: ", from,
                " part: PART_WHOLE } outputs: ", to, " } ");
}

std::string Tested(int value) {
  return StrCat("steps { control: CONTROL_TEST operands { value: ", value,
                " part: PART_WHOLE } } ");
}

std::string Shard(int from, int to) {
  return StrCat("steps { function: 's' extent: 'n' local: 'm' operands { value: ", from,
                " part: PART_ROWS } operands { value: 0 part: PART_ROWS } outputs: ", to, " } ");
}

const std::string kOutputs = "outputs: 2";

std::string Simple() {
  return Carry("ENTER", 0, 2) + Root(1, 3) + Tested(3) + Shard(2, 4) + Carry("REPEAT", 4, 2);
}

std::string Nested() {
  return Carry("ENTER", 0, 2) + Root(1, 3) + Tested(3) + Carry("ENTER", 2, 5) + Root(1, 6) +
         Tested(6) + Shard(5, 7) + Carry("REPEAT", 7, 5) + Shard(5, 4) + Carry("REPEAT", 4, 2);
}

v1::Plan PlanOf(const std::string& steps) {
  v1::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kValues + steps, &plan)) << steps;
  return plan;
}

PlanLoops Found(const v1::Plan& plan) {
  absl::StatusOr<PlanLoops> loops = PlanLoops::Find(plan);
  EXPECT_TRUE(loops.ok()) << loops.status();
  return *std::move(loops);
}

TEST(PlanLoopsTest, KnowsWhereTheStepsOfALoopAre) {
  const v1::Plan plan = PlanOf(Nested() + kOutputs);
  const PlanLoops loops = Found(plan);
  EXPECT_EQ(loops.of_control(0).repeat, 9);
  EXPECT_EQ(loops.of_control(9).test, 2);
  EXPECT_EQ(loops.of_control(5).enter, 3);
  EXPECT_TRUE(loops.IsMadeAgain(2));
  EXPECT_TRUE(loops.IsMadeAgain(4));
  EXPECT_FALSE(loops.IsMadeAgain(0));
}

TEST(PlanLoopsTest, WhatTripsUseAgainIsKeptUntilTheEndOfTheLoop) {
  const v1::Plan plan = PlanOf(Nested() + kOutputs);
  const PlanLoops loops = Found(plan);
  EXPECT_EQ(loops.KeptUntil(0, 6), 9) << "x, from outside of both";
  EXPECT_EQ(loops.KeptUntil(2, 3), 3) << "what an inner loop begins with";
  EXPECT_EQ(loops.KeptUntil(2, 6), 7) << "what the outer one carries, in the inner one";
  EXPECT_EQ(loops.KeptUntil(7, 7), 7) << "what the inner one makes";
  EXPECT_EQ(loops.KeptUntil(5, 8), 8) << "what it has carried";
}

TEST(PlanLoopsTest, TheStepsOfATripRunOnEveryWorkerThatHasAPart) {
  absl::StatusOr<RunShape> shape = RunShape::Make(PlanOf(Simple() + kOutputs), {{"n", 5}}, 2);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_TRUE(shape->RunsOn(0, 1));
  EXPECT_FALSE(shape->RunsOn(1, 1));
  EXPECT_TRUE(shape->RunsOn(2, 1));
  EXPECT_EQ(shape->step(2).jump, 5);
  EXPECT_EQ(shape->step(4).jump, 1);
  EXPECT_EQ(shape->NeedAt(1, 3), Need::kWhole) << "every worker decides";
  EXPECT_EQ(shape->NeedAt(1, 0), Need::kRows);
  EXPECT_EQ(shape->NeedAt(1, 2), Need::kRows);
  EXPECT_TRUE(shape->IsLastUse(4, 4));
  EXPECT_FALSE(shape->IsLastUse(0, 3)) << "the next trip uses it again";
}

// The loop in one function, in front of itself.
TEST(PlanLoopsTest, ALoopWithLittleToDoRunsWhole) {
  const std::string whole =
      "values { name: 'whole' type: 'f32[n]' placement: PLACEMENT_ROOT }"
      "steps { control: CONTROL_WHOLE function: 'w' work: '100*n' "
      "        operands { value: 0 part: PART_WHOLE } outputs: 8 } ";
  const v1::Plan plan = PlanOf(whole + Simple() + kOutputs);
  for (const auto& [n, workers, runs_whole] : {std::tuple{10, 1, true},
                                               {10, 2, true},
                                               {1000, 1, false},
                                               {1000, 2, true},
                                               {100'000, 2, false}}) {
    absl::StatusOr<RunShape> shape = RunShape::Make(plan, {{"n", n}}, workers);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->RunsOn(0, 0), runs_whole) << n << " on " << workers;
    EXPECT_FALSE(shape->RunsOn(0, 1));
    EXPECT_EQ(shape->step(1).jump, runs_whole ? 6 : 2);
    EXPECT_EQ(shape->NeedAt(0, 0), runs_whole ? Need::kWhole : Need::kRows);
    EXPECT_EQ(shape->NeedAt(1, 8), runs_whole ? Need::kRows : Need::kNothing);
    EXPECT_EQ(shape->NeedAt(1, 3), runs_whole ? Need::kNothing : Need::kWhole);
  }
}

TEST(PlanLoopsTest, RefusesWhatIsNoLoop) {
  const std::string enter = Carry("ENTER", 0, 2), repeat = Carry("REPEAT", 4, 2);
  const std::string decide = Root(1, 3) + Tested(3);
  for (const auto& [steps, error] : std::vector<std::pair<std::string, std::string>>{
           {enter + decide + Shard(2, 4) + kOutputs, "has no end"},
           {enter + Shard(2, 4) + repeat + kOutputs, "ends no loop"},
           {decide, "tests no loop"},
           {enter + decide + Tested(3), "tests no loop"},
           {enter + decide + Shard(2, 4) + repeat + Carry("REPEAT", 0, 2), "ends no loop"},
           {enter + Tested(1), "does not make by a function"},
           {Root(1, 3) + enter + Tested(3), "does not make by a function"},
           {enter + decide + Shard(2, 4) + Carry("REPEAT", 4, 5), "other values"},
           {enter + decide + Shard(4, 4), "uses z, which is not made there"},
           {enter + decide + Shard(2, 4) + repeat + "outputs: 4", "z is never made"},
           {enter + decide + Shard(2, 4) + repeat + Shard(4, 5), "uses z"},
           {enter + decide + Shard(2, 2), "makes y for the second time"},
           {enter + decide + Shard(2, 4) + repeat + Shard(2, 4), "makes z for the second time"},
           {"steps { control: CONTROL_ENTER outputs: 2 }", "carries 1 values, but finds 0"},
           {"steps { control: CONTROL_WHOLE outputs: 2 }", "is a whole loop"},
           {Carry("ENTER", 0, 2) + Root(1, 3) +
                "steps { control: CONTROL_TEST operands { value: 3 part: PART_ROWS } }" +
                Shard(2, 4) + repeat,
            "takes rows"},
           {"steps { control: CONTROL_LEAVE outputs: 2 }", "carries 1 values, but finds 0"}}) {
    const absl::Status status = RunShape::Make(PlanOf(steps), {{"n", 5}}, 2).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status << " for " << steps;
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
  }
}

// Rank 0 is ahead of nobody where it takes what all make in a trip; else the others answer.
TEST(PlanLoopsTest, OthersAnswerWhereRankZeroNeedsNothingOfThem) {
  const auto answered = [](const std::string& steps, int workers) {
    absl::StatusOr<RunShape> shape = RunShape::Make(PlanOf(steps + kOutputs), {{"n", 5}}, workers);
    EXPECT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->IsAnswered(3), shape->step(2).answered);
    return shape->step(2).answered;
  };
  EXPECT_TRUE(answered(Simple(), 2));
  EXPECT_FALSE(answered(Simple(), 1));
  const std::string gathers =
      Carry("ENTER", 0, 2) + Root(2, 3) + Tested(3) + Shard(2, 4) + Carry("REPEAT", 4, 2);
  EXPECT_FALSE(answered(gathers, 2));
  EXPECT_TRUE(answered(Nested(), 3));
}

TEST(PlanLoopsTest, RefusesToCarryAValueAsAnotherOne) {
  for (const std::string& steps :
       {Carry("ENTER", 0, 3), Carry("ENTER", 1, 2), Carry("ENTER", 0, 0),
        std::string("steps { control: CONTROL_ENTER operands { value: 0 part: PART_WHOLE } "
                    "outputs: 2 }")}) {
    const v1::Plan plan = PlanOf(steps + Root(1, 6) + Tested(6) + Shard(0, 7) +
                                 "steps { control: CONTROL_REPEAT operands { value: 7 "
                                 "part: PART_ROWS } outputs: 2 }");
    EXPECT_FALSE(RunShape::Make(plan, {{"n", 5}}, 2).ok()) << steps;
  }
  const std::string decides =
      Carry("ENTER", 0, 2) + Root(1, 5) + Tested(5) + Shard(2, 4) + Carry("REPEAT", 4, 2);
  EXPECT_THAT(std::string(RunShape::Make(PlanOf(decides), {{"n", 5}}, 2).status().message()),
              HasSubstr("by rows, over 0 iterations"));
}

}  // namespace
}  // namespace weir
