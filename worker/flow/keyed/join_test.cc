// join and semijoin: against the oracle, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

const std::vector<Timestamp> kEpochs = {{0}, {1}, {2}, {5}};
const std::vector<Timestamp> kTrips = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 1}};

Tensor Column(std::initializer_list<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

RecordBatch Pairs(std::initializer_list<int64_t> keys, std::initializer_list<int64_t> values,
                  int64_t first_origin = 0) {
  return MakeBatch({Column(keys), Column(values)}, first_origin);
}

VertexForm Form(std::string kind, const std::string& state, int loops = 0) {
  return {.kind = std::move(kind),
          .inputs = {{"i64[]", "i64[]"}, {"i64[]", "i64[]"}},
          .attrs = {{"keys", 1}, {"state", state}},
          .loops = loops};
}

class Join : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Join, testing::Values("join", "semijoin"));

TEST_P(Join, AgreesWithTheOracle) {
  struct Shape {
    std::vector<std::vector<std::string>> inputs;
    int keys;
  };
  const std::vector<Shape> shapes = {{{{"i64[]", "i64[]"}, {"i64[]", "f32[2]"}}, 1},
                                     {{{"f32[]", "i8[3]", "bool[]"}, {"f32[]", "i8[3]"}}, 2},
                                     {{{"i64[]"}, {"i64[]"}}, 1},
                                     {{{"i64[]"}, {"f32[]", "f32[]"}}, 0}};
  for (const Shape& shape : shapes) {
    for (const auto& [state, loops] : std::vector<std::pair<std::string, int>>{
             {"time", 0}, {"time", 1}, {"job", 0}, {"job", 1}, {"loop", 1}}) {
      for (const RandomWeights weights :
           {RandomWeights::kNone, RandomWeights::kPositive, RandomWeights::kAny}) {
        for (int seed = 0; seed < 6; ++seed) {
          const VertexForm form = {.kind = GetParam(),
                                   .inputs = shape.inputs,
                                   .attrs = {{"keys", shape.keys}, {"state", state}},
                                   .loops = loops};
          const auto flow = FlowAround(form);
          ASSERT_TRUE(flow.ok()) << flow.status();
          std::mt19937_64 random(seed * 1000 + 19);
          const RandomFrames frames = {.times = loops == 0 ? kEpochs : kTrips,
                                       .records = seed % 2 == 0 ? 20 : 4,
                                       .values = seed % 3 == 0 ? 2 : 8,
                                       .weights = weights};
          SCOPED_TRACE(state + " keys " + std::to_string(shape.keys) + " weights " +
                       std::to_string(static_cast<int>(weights)) + " seed " + std::to_string(seed));
          ExpectAsTheOracle(form, FramesFor(flow->vertices.back(), frames, random), seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(Join, ATimeLeavesNothingBehind) {
  VertexRun run(Form(GetParam(), "time"));
  run.Take({{0, {0}, Pairs({1, 2}, {5, 6})}, {1, {0}, Pairs({1, 2}, {7, 8})}});
  EXPECT_EQ(run.At(0, {0}).size(), 2);
  EXPECT_EQ(run.vertex().state_bytes(), 0);
}

TEST(Joins, PairsComeAtTheLaterOfTheirTimes) {
  VertexRun run(Form("join", "job"));
  run.Take({{0, {0}, Pairs({1}, {5}, 3)}, {1, {1}, Pairs({1}, {7})}, {0, {2}, Pairs({1}, {6})}});
  const RecordBatch first = MakeBatch({Column({1}), Column({5}), Column({7})}, 3);
  EXPECT_EQ(run.At(0, {0}).size(), 0);
  EXPECT_TRUE(SameRecords(run.At(0, {1}), first)) << ToString(run.At(0, {1}));
  EXPECT_TRUE(SameRecords(run.At(0, {2}), MakeBatch({Column({1}), Column({6}), Column({7})})));
}

TEST(Joins, OneKeyWithManyRecordsComesOutInFramesOfBoundedSize) {
  constexpr int64_t kRecords = 600;
  Tensor values(DType::kI64, {kRecords});
  std::iota(values.mutable_data<int64_t>(), values.mutable_data<int64_t>() + kRecords, 0);
  const RecordBatch batch = MakeBatch({Tensor::Zeros(DType::kI64, {kRecords}), values});
  for (const char* state : {"time", "job"}) {
    VertexRun run(Form("join", state));
    run.Take({{0, {0}, batch}, {1, {0}, batch}});
    EXPECT_EQ(run.At(0, {0}).size(), kRecords * kRecords);
    EXPECT_GE(run.continued(), 5);
  }
}

TEST(Joins, KeysThatCeaseToBeThereTakeLeftRecordsBack) {
  RecordBatch gone = Pairs({1}, {0});
  gone.weights = Column({-1});
  VertexRun run(Form("semijoin", "job"));
  run.Take({{0, {0}, Pairs({1, 2}, {5, 6})},
            {1, {1}, Pairs({1}, {0})},
            {1, {2}, gone},
            {0, {3}, Pairs({1}, {9})}});
  RecordBatch back = Pairs({1}, {5});
  back.weights = Column({-1});
  EXPECT_TRUE(SameRecords(run.At(0, {1}), Pairs({1}, {5}))) << ToString(run.At(0, {1}));
  EXPECT_TRUE(SameRecords(run.At(0, {2}), back)) << ToString(run.At(0, {2}));
  EXPECT_EQ(run.At(0, {3}).size(), 0);
}

TEST_P(Join, WhatIsTakenBackTakesNoMemory) {
  VertexRun run(Form(GetParam(), "job"));
  int64_t most = 0;
  for (int64_t epoch = 0; epoch < 200; ++epoch) {
    for (const int input : {0, 1}) {
      Tensor keys(DType::kI64, {1000});
      int64_t* key = keys.mutable_data<int64_t>();
      std::iota(key, key + 1000, 1000 * (epoch / 2) + 10'000'000 * input);
      RecordBatch batch = MakeBatch({keys, keys});
      batch.weights = Tensor(DType::kI64, {1000});
      std::fill_n(batch.weights->mutable_data<int64_t>(), 1000, epoch % 2 == 0 ? 1 : -1);
      run.Take({{input, {epoch}, batch}});
    }
    if (epoch == 9) most = run.vertex().state_bytes();
  }
  EXPECT_LE(run.vertex().state_bytes(), 2 * most) << "20 times as many records have come and gone";
}

}  // namespace
}  // namespace weir
