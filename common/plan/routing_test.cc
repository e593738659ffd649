#include "common/plan/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"

namespace weir {
namespace {

using testing::HasSubstr;

v1::Plan ParsePlan(const char* text) {
  v1::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  return plan;
}

constexpr char kPlan[] = R"(
  values { name: "x" type: "f32[n,3]" placement: PLACEMENT_FEED }
  values { name: "w" type: "f32[3]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n,2]" placement: PLACEMENT_SPLIT }
  values { name: "z" type: "f32[]" placement: PLACEMENT_ROOT }
  steps { function: "a" extent: "n" local: "m" outputs: 2
          operands { value: 0 part: PART_ROWS } operands { value: 1 part: PART_WHOLE } }
  steps { function: "b" operands { value: 2 part: PART_WHOLE } outputs: 3 }
  inputs: [0, 1] outputs: 3)";

TEST(RangeOfTest, CutsEveryExtentIntoConsecutiveRanges) {
  for (int64_t extent : {0, 1, 2, 7, 1797}) {
    for (int world : {1, 2, 3, 7}) {
      int64_t next = 0;
      for (int rank = 0; rank < world; ++rank) {
        const RowRange range = RangeOf(extent, rank, world);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.size(), extent / world + 1);
        next = range.end;
      }
      EXPECT_EQ(next, extent);
    }
  }
}

TEST(RunShapeTest, KnowsWhoNeedsWhat) {
  absl::StatusOr<RunShape> shape = RunShape::Make(ParsePlan(kPlan), {{"n", 5}}, 2);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->extents(2), (Extents{5, 2}));
  EXPECT_EQ(shape->NeedAt(0, 0), Need::kRows);
  EXPECT_EQ(shape->NeedAt(1, 1), Need::kWhole);
  EXPECT_EQ(shape->NeedAt(0, 2), Need::kWhole);
  EXPECT_EQ(shape->NeedAt(1, 2), Need::kNothing);
  EXPECT_EQ(shape->NeedAt(0, 3), Need::kNothing);
  EXPECT_EQ(shape->RowsOf(0, 1), (RowRange{2, 5}));
  EXPECT_TRUE(shape->RunsOn(0, 1));
  EXPECT_FALSE(shape->RunsOn(1, 1));
}

TEST(RunShapeTest, KnowsTheLastUseOfEveryValue) {
  absl::StatusOr<RunShape> shape = RunShape::Make(ParsePlan(kPlan), {{"n", 5}}, 2);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->last_use(0), 0);
  EXPECT_EQ(shape->last_use(2), 1);
  EXPECT_EQ(shape->last_use(3), 2);  // the result
}

TEST(LastRunShapeTest, IsMadeAnewForOtherSymbolsAndWorlds) {
  LastRunShape last;
  const v1::Plan plan = ParsePlan(kPlan);
  const auto first = last.For(plan, {{"n", 5}}, 2);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*last.For(plan, {{"n", 5}}, 2), *first);
  const auto longer = last.For(plan, {{"n", 6}}, 2);
  ASSERT_TRUE(longer.ok()) << longer.status();
  EXPECT_EQ((*longer)->extents(2), (Extents{6, 2}));
  const auto wider = last.For(plan, {{"n", 6}}, 3);
  ASSERT_TRUE(wider.ok()) << wider.status();
  EXPECT_EQ((*wider)->world(), 3);
  EXPECT_FALSE(last.For(plan, {}, 3).ok());
}

TEST(RunShapeTest, RefusesValuesThatNothingMakesAndFeedsThatAreMade) {
  const auto status = [](const v1::Plan& plan) {
    return RunShape::Make(plan, {{"n", 5}}, 2).status().ToString();
  };
  v1::Plan plan = ParsePlan(kPlan);
  plan.mutable_steps()->SwapElements(0, 1);
  EXPECT_THAT(status(plan), HasSubstr("step 0: uses y, which is not made there"));
  plan = ParsePlan(kPlan);
  plan.mutable_inputs()->RemoveLast();
  EXPECT_THAT(status(plan), HasSubstr("step 0: uses w, which is not made there"));
  plan = ParsePlan(kPlan);
  plan.mutable_values(0)->set_placement(v1::PlanValue::PLACEMENT_SPLIT);
  EXPECT_THAT(status(plan), HasSubstr("the input 0 is not fed"));
  plan = ParsePlan(kPlan);
  plan.mutable_values(3)->set_placement(v1::PlanValue::PLACEMENT_FEED);
  EXPECT_THAT(status(plan), HasSubstr("b makes value 3, which is to be fed"));
  plan = ParsePlan(kPlan);
  plan.mutable_steps()->RemoveLast();
  EXPECT_THAT(status(plan), HasSubstr("z is never made"));
}

TEST(RunShapeTest, RefusesSymbolsWithoutValueAndBadIndices) {
  EXPECT_FALSE(RunShape::Make(ParsePlan(kPlan), {}, 2).ok());
  v1::Plan plan = ParsePlan(kPlan);
  plan.add_outputs(9);
  EXPECT_FALSE(RunShape::Make(plan, {{"n", 5}}, 2).ok());
}

TEST(RunShapeTest, RefusesOutputsThatAreNotWhatTheStepMakes) {
  v1::Plan plan = ParsePlan(kPlan);
  plan.mutable_values(2)->set_placement(v1::PlanValue::PLACEMENT_ROOT);
  EXPECT_FALSE(RunShape::Make(plan, {{"n", 5}}, 2).ok());
  plan = ParsePlan(kPlan);
  plan.mutable_values(2)->set_type("f32[n+1,2]");
  EXPECT_FALSE(RunShape::Make(plan, {{"n", 5}}, 2).ok());
  plan = ParsePlan(kPlan);
  plan.mutable_values(3)->set_placement(v1::PlanValue::PLACEMENT_SPLIT);
  EXPECT_EQ(RunShape::Make(plan, {{"n", 5}}, 2).status().message(),
            "plan: value z is split by rows, but has none");
}

TEST(RunShapeTest, RefusesNegativeExtents) {
  v1::Plan plan = ParsePlan(kPlan);
  plan.mutable_steps(0)->set_extent("n-7");
  plan.mutable_steps(0)->mutable_operands()->Clear();
  absl::StatusOr<RunShape> shape = RunShape::Make(plan, {{"n", 5}}, 2);
  EXPECT_EQ(shape.status().message(), "pfor extent n-7 is negative: -2");
}

}  // namespace
}  // namespace weir
