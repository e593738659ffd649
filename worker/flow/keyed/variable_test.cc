// variable: against the oracle; and without an order, against all orders that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// Values (f32[], i64[2]) of keys (i64[], i8[3]) and of none.
constexpr char kFunctions[] = R"(
func @zero() -> (f32[], i64[2]) {
  %f = constant {value = f32[] {0.5}}
  %n = constant {value = i64[2] {3, 4}}
  return %f, %n
}
func @ofkey(%k: i64[], %l: i8[3]) -> (f32[], i64[2]) {
  %f = convert(%k) {dtype = f32}
  %n = broadcast_in_dim(%k) {axes = [], shape = (2)}
  return %f, %n
}
func @mix(%f: f32[], %n: i64[2], %u: f32[]) -> (f32[], i64[2]) {
  %h = constant {value = f32[] {0.5}}
  %kept = multiply(%f, %h)
  %new = add(%kept, %u)
  %two = constant {value = i64[2] {2, 3}}
  %m = multiply(%n, %two)
  return %new, %m
}
func @mixall(%f: f32[], %n: i64[2], %k: i64[], %l: i8[3], %u: f32[]) -> (f32[], i64[2]) {
  %h = constant {value = f32[] {0.5}}
  %kept = multiply(%f, %h)
  %new = add(%kept, %u)
  %w = broadcast_in_dim(%k) {axes = [], shape = (2)}
  %m = add(%n, %w)
  return %new, %m
}
)";

VertexForm Form(int keys, const std::string& init, const std::string& order = "time") {
  return {.kind = "variable",
          .inputs = {{"i64[]", "i8[3]", "bool[]"}, {"i64[]", "i8[3]", "f32[]"}},
          .attrs = {{"keys", keys},
                    {"init", init},
                    {"assign", keys == 0 ? "mixall" : "mix"},
                    {"order", order}},
          .functions = kFunctions};
}

TEST(Variable, AgreesWithTheOracle) {
  const std::vector<Timestamp> epochs = {{0}, {1}, {2}, {5}};
  const std::vector<Timestamp> trips = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 1}};
  for (VertexForm form : {Form(0, "zero"), Form(2, "zero"), Form(2, "ofkey")}) {
    for (int loops : {0, 1}) {
      form.loops = loops;
      const auto flow = FlowAround(form);
      ASSERT_TRUE(flow.ok()) << flow.status();
      // Weights of reads are any; an update below zero is an error for both.
      for (const RandomWeights weights :
           {RandomWeights::kNone, RandomWeights::kPositive, RandomWeights::kAny}) {
        for (int seed = 0; seed < 10; ++seed) {
          std::mt19937_64 random(seed * 1000 + 23);
          const RandomFrames frames = {.times = loops == 0 ? epochs : trips,
                                       .records = seed % 2 == 0 ? 20 : 4,
                                       .values = seed % 3 == 0 ? 2 : 8,
                                       .weights = weights};
          SCOPED_TRACE(form.attrs.at("init").AsString() + " weights " +
                       std::to_string(static_cast<int>(weights)) + " seed " + std::to_string(seed));
          ExpectAsTheOracle(form, FramesFor(flow->vertices.back(), frames, random), seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

constexpr char kNumbers[] = R"(
func @one() -> (i64[]) {
  %one = constant {value = i64[] {1}}
  return %one
}
func @push(%value: i64[], %digit: i64[]) -> (i64[]) {
  %ten = constant {value = i64[] {10}}
  %shifted = multiply(%value, %ten)
  %new = add(%shifted, %digit)
  return %new
}
func @add(%value: i64[], %more: i64[]) -> (i64[]) {
  %new = add(%value, %more)
  return %new
}
)";

VertexForm NumbersForm(const std::string& assign, const std::string& order) {
  return {.kind = "variable",
          .inputs = {{"i64[]"}, {"i64[]", "i64[]"}},
          .attrs = {{"keys", 1}, {"init", "one"}, {"assign", assign}, {"order", order}},
          .functions = kNumbers};
}

Tensor Column(std::vector<int64_t> values) {
  return Tensor::FromSpan<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// T6 of TensorFlow's model: variables outlive steps, tensors do not.
TEST(Variable, ValuesOutliveTimesAndRecordsDoNot) {
  VertexRun run(NumbersForm("add", "time"));
  run.Take({{1, {0}, MakeBatch({Column({7}), Column({4})})}});
  const int64_t value_bytes = run.vertex().state_bytes();
  EXPECT_GT(value_bytes, 0);
  std::vector<int64_t> keys(5000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
  run.Take({{0, {3}, MakeBatch({Column(keys)})}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  EXPECT_EQ(run.At(0, {3}).size(), 5000);
  EXPECT_EQ(run.vertex().state_bytes(), value_bytes);
  run.Take({{0, {9}, MakeBatch({Column({7})})}});
  EXPECT_EQ(run.At(0, {9}).columns[1].At<int64_t>({0}), 5);
}

TEST(Variable, ManyReadsComeOutInFramesOfBoundedSize) {
  VertexRun run(NumbersForm("add", "time"));
  std::vector<int64_t> keys(150'000, 7);
  run.Take({{1, {0}, MakeBatch({Column({7}), Column({4})})}, {0, {0}, MakeBatch({Column(keys)})}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  EXPECT_EQ(run.At(0, {0}).size(), 150'000);
  EXPECT_EQ(run.continued(), 2);
}

// T5: each of N concurrent assign-adds counts, whatever the frames.
TEST(Variable, ConcurrentAssignAddsSumExactly) {
  for (const std::string order : {"time", "relaxed"}) {
    VertexRun run(NumbersForm("add", order), /*seed=*/5);
    std::vector<TestFrame> frames;
    for (int64_t i = 0; i < 500; ++i) {
      RecordBatch batch = MakeBatch({Column({7, 8, 7}), Column({1'000'000, 1, i})}, 3 * i);
      batch.weights = Column({0, 2, 1});
      frames.push_back({1, {0}, std::move(batch)});
    }
    run.Take(frames);
    run.Take({{0, {1}, MakeBatch({Column({7, 8, 9})})}});
    ASSERT_EQ(run.status(), absl::OkStatus());
    const RecordBatch read = Sorted(run.At(0, {1}));
    EXPECT_EQ(read.columns[1].At<int64_t>({0}), 1 + 500 * 499 / 2) << order;
    EXPECT_EQ(read.columns[1].At<int64_t>({1}), 1 + 2 * 500) << order;
    EXPECT_EQ(read.columns[1].At<int64_t>({2}), 1) << order;
  }
}

TEST(Variable, WithoutAnOrderARecordTakesTheValueAsItIs) {
  VertexRun run(NumbersForm("push", "relaxed"));
  const auto read = [&](const Timestamp& time) {
    run.Take({{0, time, MakeBatch({Column({7})})}});
    const RecordBatch all = run.At(0, time);
    return all.columns[1].At<int64_t>({all.size() - 1});
  };
  EXPECT_EQ(read({5}), 1);
  run.Take({{1, {9}, MakeBatch({Column({7, 7}), Column({2, 3})})}});
  EXPECT_EQ(read({4}), 123);
  run.Take({{1, {0}, MakeBatch({Column({7}), Column({4})})}});
  EXPECT_EQ(read({3}), 1234);
  RecordBatch back = MakeBatch({Column({7}), Column({2})});
  back.weights = Column({-1});
  run.Take({{1, {0}, back}});
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("origin 0 has the weight -1"));
}

}  // namespace
}  // namespace weir
