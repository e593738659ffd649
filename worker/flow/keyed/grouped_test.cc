// reduce_by_key, count and distinct: against the oracle, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFunctions[] = R"(
  func @keep_first_of_less(%a: f32[], %v: f32[2], %b: f32[], %w: f32[2]) -> (f32[], f32[2]) {
    %is = less(%a, %b)
    %s = add(%a, %b)
    %x = if(%is) { %t = add(%v, %v) yield %t } { yield %w }
    %y = add(%x, %v)
    return %s, %y
  }
  func @small(%a: i64[], %b: i64[]) -> (i64[]) {
    %limit = constant {value = i64[] {1000}}
    %s = add(%a, %b)
    %is = less(%s, %limit)
    check(%is) {message = "must stay small"}
    return %s
  })";

// Over all lives of state.
void CompareAll(const std::string& kind, const std::vector<std::string>& columns,
                const Attrs& attrs, const std::vector<RandomWeights>& weights, int seeds) {
  CompareLives({.kind = kind, .inputs = {columns}, .attrs = attrs, .functions = kFunctions},
               weights, seeds);
}

const std::vector<RandomWeights> kAllWeights = {RandomWeights::kNone, RandomWeights::kPositive,
                                                RandomWeights::kAny};

TEST(Grouped, AgreesWithTheOracleForEachCombination) {
  for (const std::string combine : {"sum", "min", "max", "mean", "count"}) {
    for (const std::vector<std::string>& columns :
         std::vector<std::vector<std::string>>{{"i64[]", "i64[]"},
                                               {"i64[]", "f32[]", "f64[3]"},
                                               {"i32[]", "i8[2]", "f16[]", "bf16[2]"},
                                               {"f32[]", "u16[]", "u64[]", "f64[]"}}) {
      SCOPED_TRACE(combine + " of " + columns[1]);
      CompareAll("reduce_by_key", columns, {{"keys", 1}, {"combine", combine}}, kAllWeights, 4);
      if (HasFailure()) return;
    }
  }
}

TEST(Grouped, KeysMayBeOfAnyColumnsOrNone) {
  const std::vector<std::string> columns = {"f32[]", "i8[3]", "bool[]", "i64[]"};
  for (const int keys : {0, 2, 3, 4}) {
    SCOPED_TRACE(keys);
    CompareAll("count", columns, {{"keys", keys}}, kAllWeights, 3);
    if (keys == 0 || keys == 2) continue;  // there is no sum of truths
    CompareAll("reduce_by_key", columns, {{"keys", keys}, {"combine", "sum"}}, kAllWeights, 3);
  }
  CompareAll("reduce_by_key", {"f32[]", "i64[2]"}, {{"keys", 0}, {"combine", "mean"}}, kAllWeights,
             3);
}

TEST(Grouped, FunctionsFoldInOrder) {
  CompareAll("reduce_by_key", {"i64[]", "f32[]", "f32[2]"},
             {{"keys", 1}, {"function", "keep_first_of_less"}},
             {RandomWeights::kNone, RandomWeights::kPositive}, 6);
  CompareAll("reduce_by_key", {"f32[]", "f32[2]"},
             {{"keys", 0}, {"function", "keep_first_of_less"}}, {RandomWeights::kNone}, 2);
}

TEST(Grouped, DistinctAgreesWithTheOracle) {
  CompareAll("distinct", {"i64[]"}, {}, kAllWeights, 6);
  CompareAll("distinct", {"f32[2]", "i8[]"}, {}, kAllWeights, 3);
}

Tensor Column(std::initializer_list<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

RecordBatch Pairs(std::initializer_list<int64_t> keys, std::initializer_list<int64_t> values,
                  int64_t first_origin = 0) {
  return MakeBatch({Column(keys), Column(values)}, first_origin);
}

VertexForm SumForm(Attrs more = {}) {
  Attrs attrs = {{"keys", 1}, {"combine", "sum"}};
  for (const auto& [name, attr] : more) attrs[name] = attr;
  return {.kind = "reduce_by_key", .inputs = {{"i64[]", "i64[]"}}, .attrs = attrs};
}

TEST(Grouped, ATimeStandsForItself) {
  VertexRun run(SumForm());
  run.Take({{0, {0}, Pairs({7, 8, 7}, {1, 2, 3}, 4)}, {0, {1}, Pairs({7}, {10})}});
  RecordBatch want = Pairs({7, 8}, {4, 2});
  want.origins = Column({4, 5});
  EXPECT_TRUE(SameRecords(run.At(0, {0}), want)) << ToString(run.At(0, {0}));
  EXPECT_TRUE(SameRecords(run.At(0, {1}), Pairs({7}, {10})));
  EXPECT_EQ(run.vertex().state_bytes(), 0) << "nothing is left of times that are done";
  EXPECT_EQ(run.vertex().notify_order(), NotifyOrder::kCausal);
}

TEST(Grouped, ChangesTakeBackWhatCameBefore) {
  VertexRun run(SumForm({{"state", "job"}, {"emit", "changes"}}));
  run.Take({{0, {0}, Pairs({7, 8}, {1, 2})}, {0, {1}, Pairs({7, 8}, {10, 0}, 5)}});
  RecordBatch want = Pairs({7, 7}, {1, 11});
  want.origins = Column({0, 5});
  want.weights = Column({-1, 1});
  EXPECT_TRUE(SameRecords(run.At(0, {1}), want)) << "8 is as before: " << ToString(run.At(0, {1}));
  EXPECT_EQ(run.vertex().notify_order(), NotifyOrder::kSequential);
}

TEST(Grouped, WhatIsTakenBackNeedsChanges) {
  RecordBatch batch = Pairs({7, 8}, {1, 2}, 30);
  batch.weights = Column({1, -1});
  VertexRun run(SumForm({{"state", "job"}}));
  run.Take({{0, {0}, batch}});
  EXPECT_TRUE(absl::IsInvalidArgument(run.status())) << run.status();
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("a record of origin 31 has the weight -1; what is taken back needs emit"));
}

TEST(Grouped, AFailingFunctionSaysWhere) {
  VertexRun run({.kind = "reduce_by_key",
                 .inputs = {{"i64[]", "i64[]"}},
                 .attrs = {{"keys", 1}, {"function", "small"}},
                 .functions = kFunctions});
  run.Take({{0, {0}, Pairs({7, 7, 7}, {1, 2, 998})}});
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("combining record 2 of each key"));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("must stay small"));
  RecordBatch many = Pairs({7}, {1});
  many.weights = Column({70'000});
  VertexRun repeated({.kind = "reduce_by_key",
                      .inputs = {{"i64[]", "i64[]"}},
                      .attrs = {{"keys", 1}, {"function", "small"}},
                      .functions = kFunctions});
  repeated.Take({{0, {0}, many}});
  EXPECT_TRUE(absl::IsInvalidArgument(repeated.status())) << repeated.status();
}

TEST(Grouped, ManyKeysComeOutInFramesOfBoundedSize) {
  for (const char* emit : {"updates", "changes"}) {
    VertexRun run(SumForm({{"state", "job"}, {"emit", emit}}));
    constexpr int64_t kKeys = 200'000;
    Tensor keys(DType::kI64, {kKeys});
    for (int64_t i = 0; i < kKeys; ++i) keys.mutable_data<int64_t>()[i] = i * 3;
    const RecordBatch batch = MakeBatch({keys, keys});
    run.Take({{0, {0}, batch}, {0, {1}, batch}});
    EXPECT_EQ(run.At(0, {0}).size(), kKeys);
    EXPECT_EQ(run.At(0, {1}).size(), emit == std::string("changes") ? 2 * kKeys - 2 : kKeys - 1)
        << "the sum of key 0 stays 0";
    EXPECT_GE(run.continued(), 6);
  }
}

// However many there are: one call sorts or adds about an eighth of the memory.
TEST(Grouped, RecordsOfOneKeyInOrderAreTakenSomeAtATime) {
  constexpr int64_t kFrames = 64;
  constexpr int64_t kBudget = 32 << 10;
  const auto memory = FlowMemory::Make({.budget = kBudget});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto share = (*memory)->AddFlow();
  const FlowShare::Scope scope(share.get());
  VertexRun run({.kind = "reduce_by_key",
                 .inputs = {{"i64[]", "f32[]"}},
                 .attrs = {{"keys", 1}, {"combine", "sum"}}});
  std::vector<TestFrame> frames;
  int64_t bytes = 0;
  for (int64_t i = 0; i < kFrames; ++i) {
    constexpr int64_t kRecords = 200;
    const std::vector<float> ones(kRecords, 1.0f);
    RecordBatch batch = MakeBatch(
        {Tensor::Zeros(DType::kI64, {kRecords}), Tensor::FromSpan<float>({kRecords}, ones)},
        i * kRecords);
    bytes += batch.bytes();
    frames.push_back({0, {0}, std::move(batch)});
  }
  run.Take(std::move(frames));
  ASSERT_EQ(run.status(), absl::OkStatus());
  const RecordBatch sum = run.At(0, {0});
  ASSERT_EQ(sum.size(), 1);
  EXPECT_EQ(sum.columns[1].At<float>({0}), 200.0f * kFrames);
  EXPECT_GE(run.continued(), bytes / (kBudget / 8));
}

TEST(Grouped, StateOfALoopGoesWithTheTimeAround) {
  VertexForm form = SumForm({{"state", "loop"}});
  form.loops = 1;
  VertexRun run(form);
  EXPECT_TRUE(run.vertex().keeps_outer_state());
  run.Take(
      {{0, {0, 0}, Pairs({7}, {1})}, {0, {0, 1}, Pairs({7}, {2})}, {0, {1, 0}, Pairs({7}, {5})}});
  EXPECT_TRUE(SameRecords(run.At(0, {0, 1}), Pairs({7}, {3}))) << ToString(run.At(0, {0, 1}));
  EXPECT_TRUE(SameRecords(run.At(0, {1, 0}), Pairs({7}, {5}))) << ToString(run.At(0, {1, 0}));
  EXPECT_EQ(run.vertex().state_bytes(), 0);
}

TEST(Grouped, KeysThatAreNotThereTakeNoMemory) {
  VertexForm distinct = {.kind = "distinct", .inputs = {{"i64[]", "i64[]"}}};
  VertexForm top = {
      .kind = "top_k", .inputs = {{"i64[]", "i64[]"}}, .attrs = {{"keys", 1}, {"k", 2}, {"by", 1}}};
  for (VertexForm form : {SumForm(), SumForm({{"combine", "min"}}), distinct, top}) {
    form.attrs["state"] = Attr("job");
    form.attrs["emit"] = Attr("changes");
    VertexRun run(form);
    int64_t most = 0;
    for (int64_t epoch = 0; epoch < 200; ++epoch) {
      Tensor keys(DType::kI64, {500});
      std::iota(keys.mutable_data<int64_t>(), keys.mutable_data<int64_t>() + 500,
                500 * (epoch / 2));
      RecordBatch batch = MakeBatch({keys, keys});
      batch.weights = Tensor(DType::kI64, {500});
      std::fill_n(batch.weights->mutable_data<int64_t>(), 500, epoch % 2 == 0 ? 1 : -1);
      run.Take({{0, {epoch}, batch}});
      if (epoch == 3) most = run.vertex().state_bytes();
    }
    EXPECT_LE(run.vertex().state_bytes(), most)
        << form.kind << ": 100 times as many keys have been there";
  }
}

}  // namespace
}  // namespace weir
