// top_k and collect: against the oracle, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

constexpr char kFunctions[] = R"(
  func @running(%x: i64[n], %y: f32[n,2]) -> (f32[n,2], i64[n]) {
    %z = add(%y, %y)
    %w = add(%x, %x)
    return %z, %w
  }
  func @head(%x: i64[n], %y: f32[n,2]) -> (f32[2,2], i64[2]) {
    %a = constant {value = i64[2] {3, 4}}
    %b = constant {value = f32[2,2] {1, 2, 3, 4}}
    return %b, %a
  })";

Tensor Column(std::initializer_list<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

const std::vector<RandomWeights> kAllWeights = {RandomWeights::kNone, RandomWeights::kPositive,
                                                RandomWeights::kAny};

TEST(TopK, AgreesWithTheOracle) {
  for (const std::vector<std::string>& columns :
       std::vector<std::vector<std::string>>{{"i64[]", "i64[]"},
                                             {"i8[]", "f32[]", "i64[2]"},
                                             {"u8[]", "f16[]"},
                                             {"f64[]", "u64[]"}}) {
    for (const int keys : {0, 1}) {
      for (const int64_t k : {1, 2, 5, 1000}) {
        CompareLives(
            {.kind = "top_k", .inputs = {columns}, .attrs = {{"keys", keys}, {"k", k}, {"by", 1}}},
            kAllWeights, 4);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(TopK, MoreThanAFrameComesOutInSeveral) {
  constexpr int64_t kRecords = 100'000;
  Tensor values(DType::kI64, {kRecords});
  std::iota(values.mutable_data<int64_t>(), values.mutable_data<int64_t>() + kRecords, 0);
  const RecordBatch batch = MakeBatch({Tensor::Zeros(DType::kI64, {kRecords}), values});
  for (const char* state : {"time", "job"}) {
    VertexRun run({.kind = "top_k",
                   .inputs = {{"i64[]", "i64[]"}},
                   .attrs = {{"keys", 1}, {"k", 90'000}, {"by", 1}, {"state", state}}});
    run.Take({{0, {0}, batch}});
    EXPECT_EQ(run.At(0, {0}).size(), 90'000) << state;
    EXPECT_GE(run.continued(), 1) << state;
  }
}

TEST(TopK, WhatIsBehindThePlacesIsForgottenIfNothingIsTakenBack) {
  VertexRun run({.kind = "top_k",
                 .inputs = {{"i64[]", "i64[]"}},
                 .attrs = {{"keys", 1}, {"k", 3}, {"by", 1}, {"state", "job"}}});
  int64_t most = 0;
  for (int64_t epoch = 0; epoch < 100; ++epoch) {
    Tensor values(DType::kI64, {1000});
    std::iota(values.mutable_data<int64_t>(), values.mutable_data<int64_t>() + 1000, 1000 * epoch);
    run.Take({{0, {epoch}, MakeBatch({Tensor::Zeros(DType::kI64, {1000}), values})}});
    if (epoch == 1) most = run.vertex().state_bytes();
  }
  EXPECT_LE(run.vertex().state_bytes(), most);
}

TEST(Collect, AgreesWithTheOracle) {
  for (const int loops : {0, 1}) {
    const std::vector<Timestamp> epochs = {{0}, {1}, {4}};
    const std::vector<Timestamp> trips = {{0, 0}, {0, 1}, {2, 0}};
    for (const RandomWeights weights : kAllWeights) {
      for (const char* function : {"", "running", "head"}) {
        const bool called = *function != '\0';
        if (called && weights == RandomWeights::kAny) continue;
        for (int seed = 0; seed < 6; ++seed) {
          VertexForm form = {.kind = "collect",
                             .inputs = {{"i64[]", "f32[2]"}},
                             .functions = kFunctions,
                             .loops = loops};
          if (called) form.attrs["function"] = Attr(function);
          const auto flow = FlowAround(form);
          ASSERT_TRUE(flow.ok()) << flow.status();
          std::mt19937_64 random(seed * 1000 + 23);
          const RandomFrames frames = {.times = loops == 0 ? epochs : trips,
                                       .records = seed % 2 == 0 ? 20 : 3,
                                       .weights = weights};
          SCOPED_TRACE(std::string(function) + " seed " + std::to_string(seed));
          ExpectAsTheOracle(form, FramesFor(flow->vertices.back(), frames, random), seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Collect, IsOneBatchInOrder) {
  VertexRun run({.kind = "collect", .inputs = {{"i64[]"}}});
  VertexActivation arrival({0});
  for (const auto& [value, origin] :
       std::vector<std::pair<int64_t, int64_t>>{{5, 9}, {6, 2}, {4, 2}}) {
    const RecordBatch batch = MakeBatch({Column({value})}, origin);
    ASSERT_EQ(run.vertex().OnFrame(0, batch, &arrival), absl::OkStatus());
  }
  VertexActivation complete({0});
  ASSERT_EQ(run.vertex().OnNotify(&complete), absl::OkStatus());
  ASSERT_EQ(complete.sent().size(), 1u);
  EXPECT_TRUE(complete.sent()[0].batch.columns[0].BitEquals(Column({4, 6, 5})));
  EXPECT_TRUE(complete.sent()[0].batch.origins.BitEquals(Column({2, 2, 9})));
  EXPECT_EQ(run.vertex().state_bytes(), 0);
}

// What a function takes as one is in memory as one, so what is too much is refused before.
TEST(Collect, ATimeThatIsTooLargeForItsFunctionIsRefusedWithItsSize) {
  constexpr int64_t kBudget = 50'000;
  const auto memory = FlowMemory::Make({.budget = kBudget});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto share = (*memory)->AddFlow();
  const FlowShare::Scope scope(share.get());
  const auto status_of = [](int64_t records, int64_t weight) {
    std::vector<TestFrame> frames;
    for (int64_t origin = 0; origin < records; origin += 100) {
      RecordBatch batch = MakeBatch(
          {Tensor::Zeros(DType::kI64, {100}), Tensor::Zeros(DType::kF32, {100, 2})}, origin);
      batch.weights = Tensor::FromSpan<int64_t>({100}, std::vector<int64_t>(100, weight));
      frames.push_back({0, {0}, batch});
    }
    VertexRun run({.kind = "collect",
                   .inputs = {{"i64[]", "f32[2]"}},
                   .attrs = {{"function", "running"}},
                   .functions = kFunctions});
    run.Take(std::move(frames));
    return run.status();
  };
  EXPECT_EQ(status_of(1000, 1), absl::OkStatus());
  for (const auto& [records, weight] :
       std::vector<std::pair<int64_t, int64_t>>{{2000, 1}, {500, 4}}) {
    const absl::Status status = status_of(records, weight);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    for (const char* part :
         {"needs all 64000 bytes of the time at once", "--flow-memory of this worker is 50000",
          "give it more", "more epochs"}) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(part)) << weight;
    }
    EXPECT_EQ(share->kept_bytes(), 0);
    EXPECT_EQ(share->spilled_bytes(), 0);
  }
}

TEST(Collect, AWeightThatNoFunctionCanTakeIsNamed) {
  RecordBatch batch = MakeBatch({Column({1}), Tensor::Zeros(DType::kF32, {1, 2})}, 7);
  batch.weights = Column({-1});
  VertexRun run({.kind = "collect",
                 .inputs = {{"i64[]", "f32[2]"}},
                 .attrs = {{"function", "running"}},
                 .functions = kFunctions});
  run.Take({{0, {0}, batch}});
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("a record of origin 7 has the weight -1; a function takes"));
}

}  // namespace
}  // namespace weir
