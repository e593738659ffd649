#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "worker/flow/vertex_testing.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFunctions[] = R"(
  func @both(%x: i64[]) -> (i64[], i64[]) {
    %y = add(%x, %x)
    return %x, %y
  }
  func @is_even(%x: i64[]) -> (bool[]) {
    %two = constant {value = i64[] {2}}
    %zero = constant {value = i64[] {0}}
    %rest = remainder(%x, %two)
    %is = equal(%rest, %zero)
    return %is
  }
  func @copies(%x: i64[]) -> (i64[], i64[3], f32[3,2]) {
    %three = broadcast_in_dim(%x) {shape = (3), axes = []}
    %floats = convert(%x) {dtype = f32}
    %pairs = broadcast_in_dim(%floats) {shape = (3, 2), axes = []}
    return %x, %three, %pairs
  }
  func @must_be_small(%x: i64[]) -> (i64[]) {
    %limit = constant {value = i64[] {100}}
    %is = less(%x, %limit)
    check(%is) {message = "must be small"}
    return %x
  })";

Tensor Column(std::initializer_list<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

RecordBatch Weighted(std::initializer_list<int64_t> values, std::initializer_list<int64_t> weights,
                     int64_t first_origin) {
  RecordBatch batch = MakeBatch({Column(values)}, first_origin);
  batch.weights = Column(weights);
  return batch;
}

VertexForm Form(std::string kind, Attrs attrs = {}, int loops = 0) {
  return {.kind = std::move(kind),
          .inputs = {{"i64[]"}},
          .attrs = std::move(attrs),
          .functions = kFunctions,
          .loops = loops};
}

TEST(StatelessVertex, MapKeepsOriginsAndWeights) {
  VertexRun run(Form("map", {{"function", "both"}}));
  run.Take({{0, {3}, Weighted({4, 5}, {1, -2}, 10)}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  RecordBatch want = MakeBatch({Column({4, 5}), Column({8, 10})}, 10);
  want.weights = Column({1, -2});
  EXPECT_TRUE(SameRecords(run.At(0, {3}), want)) << ToString(run.At(0, {3}));
  EXPECT_TRUE(run.vertex().is_stateless());
  EXPECT_EQ(run.vertex().state_bytes(), 0);
}

TEST(StatelessVertex, ARecordAtFaultIsNamed) {
  VertexRun run(Form("map", {{"function", "must_be_small"}}));
  run.Take({{0, {3}, MakeBatch({Column({4, 5, 100})})}});
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("record 2"));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("must be small"));
}

TEST(StatelessVertex, FilterKeepsWhatTheFunctionSays) {
  VertexRun run(Form("filter", {{"function", "is_even"}}));
  run.Take({{0, {0}, Weighted({1, 2, 3, 4}, {5, 6, 7, 8}, 20)},
            {0, {1}, MakeBatch({Column({1, 3})})},
            {0, {2}, MakeBatch({Column({2, 4})})}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  RecordBatch want = MakeBatch({Column({2, 4})});
  want.origins = Column({21, 23});
  want.weights = Column({6, 8});
  EXPECT_TRUE(SameRecords(run.At(0, {0}), want)) << ToString(run.At(0, {0}));
  EXPECT_TRUE(SameRecords(run.At(0, {2}), MakeBatch({Column({2, 4})})));
  EXPECT_THAT(run.Times(), ElementsAre(Timestamp{0}, Timestamp{2})) << "of epoch 1 nothing is left";
}

TEST(StatelessVertex, FramesWithoutRecordsEndHere) {
  for (const char* kind : {"map", "filter", "concat", "exchange", "enter"}) {
    Attrs attrs;
    if (kind == std::string("map")) attrs = {{"function", "both"}};
    if (kind == std::string("filter")) attrs = {{"function", "is_even"}};
    if (kind == std::string("exchange")) attrs = {{"keys", 1}};
    VertexRun run(Form(kind, attrs));
    run.Take({{0, {0}, EmptyBatch(run.input_type())}});
    EXPECT_EQ(run.status(), absl::OkStatus());
    EXPECT_THAT(run.Times(), ElementsAre()) << kind;
  }
}

TEST(StatelessVertex, ConcatTakesAllInputs) {
  VertexForm form = Form("concat");
  form.inputs = {{"i64[]"}, {"i64[]"}, {"i64[]"}};
  VertexRun run(form);
  run.Take({{0, {0}, MakeBatch({Column({1})})},
            {1, {0}, MakeBatch({Column({2})}, 1)},
            {2, {0}, MakeBatch({Column({3})}, 2)}});
  EXPECT_TRUE(SameRecords(run.At(0, {0}), MakeBatch({Column({1, 2, 3})})));
}

TEST(StatelessVertex, TimesFollowTheKind) {
  const RecordBatch batch = Weighted({7}, {3}, 9);
  VertexRun enter(Form("enter", {{"trip", 4}}, 1));
  enter.Take({{0, {3, 1}, batch}});
  EXPECT_TRUE(SameRecords(enter.At(0, {3, 1, 4}), batch));
  VertexRun leave(Form("leave", {}, 2));
  leave.Take({{0, {3, 1, 4}, batch}, {0, {3, 1, 5}, batch}});
  EXPECT_TRUE(SameRecords(leave.At(0, {3, 1}), ConcatBatches({batch, batch}, leave.input_type())));
  VertexRun delay(Form("delay", {{"epochs", 2}}));
  delay.Take({{0, {3}, batch}});
  EXPECT_TRUE(SameRecords(delay.At(0, {5}), batch));
  VertexRun exchange(Form("exchange", {{"keys", 1}}, 1));
  exchange.Take({{0, {3, 1}, batch}});
  EXPECT_TRUE(SameRecords(exchange.At(0, {3, 1}), batch));
}

TEST(StatelessVertex, FeedbackDropsWhatWouldBeginTripBound) {
  const RecordBatch batch = MakeBatch({Column({7, 8})});
  VertexRun run(Form("feedback", {{"bound", 3}}, 1));
  run.Take({{0, {0, 0}, batch}, {0, {0, 1}, batch}, {0, {0, 2}, batch}, {0, {0, 5}, batch}});
  EXPECT_THAT(run.Times(), ElementsAre(Timestamp({0, 1}), Timestamp({0, 2})));
  EXPECT_EQ(run.dropped(), 4);
}

TEST(StatelessVertex, WhatHasNoTimeIsDroppedAndCounted) {
  const int64_t last = std::numeric_limits<int64_t>::max();
  const RecordBatch batch = MakeBatch({Column({7, 8})});
  VertexRun feedback(Form("feedback", {}, 1));
  feedback.Take({{0, {0, last - 1}, batch}, {0, {0, last}, batch}});
  EXPECT_THAT(feedback.Times(), ElementsAre(Timestamp({0, last})));
  EXPECT_EQ(feedback.dropped(), 2);
  VertexRun delay(Form("delay", {{"epochs", 1}}));
  delay.Take({{0, {last}, batch}});
  EXPECT_EQ(delay.dropped(), 2);
}

TEST(StatelessVertex, ProbeTakesAndSendsNothing) {
  VertexRun run(Form("probe"));
  run.Take({{0, {0}, MakeBatch({Column({7, 8})})}});
  EXPECT_EQ(run.status(), absl::OkStatus());
}

TEST(StatelessVertex, FlatMapMakesAsManyAsTheFunctionSays) {
  VertexRun run(Form("flat_map", {{"function", "copies"}}));
  run.Take({{0, {0}, Weighted({2, 0, 3}, {1, 5, -2}, 10)}, {0, {1}, MakeBatch({Column({0, 0})})}});
  ASSERT_EQ(run.status(), absl::OkStatus());
  RecordBatch want = MakeBatch(
      {Column({2, 2, 3, 3, 3}), Tensor::Of<float>({5, 2}, {2, 2, 2, 2, 3, 3, 3, 3, 3, 3})});
  want.origins = Column({10, 10, 12, 12, 12});
  want.weights = Column({1, 1, -2, -2, -2});
  EXPECT_TRUE(SameRecords(run.At(0, {0}), want)) << ToString(run.At(0, {0}));
  EXPECT_THAT(run.Times(), ElementsAre(Timestamp{0}));
}

TEST(StatelessVertex, FlatMapRefusesCountsThatTheColumnsDoNotHave) {
  for (const int64_t count : {-1, 4}) {
    VertexRun run(Form("flat_map", {{"function", "copies"}}));
    run.Take({{0, {0}, MakeBatch({Column({1, count})})}});
    EXPECT_TRUE(absl::IsOutOfRange(run.status())) << run.status();
    EXPECT_THAT(std::string(run.status().message()),
                HasSubstr("record 1: the function returned the count " + std::to_string(count)));
  }
}

TEST(StatelessVertex, FlatMapCutsWhatItMakesIntoFrames) {
  VertexRun run(Form("flat_map", {{"function", "copies"}}));
  Tensor threes(DType::kI64, {50'000});
  std::fill_n(threes.mutable_data<int64_t>(), 50'000, 3);
  VertexActivation activation({0});
  ASSERT_EQ(run.vertex().OnFrame(0, MakeBatch({threes}), &activation), absl::OkStatus());
  int64_t records = 0;
  for (const VertexActivation::Sent& sent : activation.sent()) {
    EXPECT_LE(sent.batch.size(), VertexRun::kMostRecords);
    records += sent.batch.size();
  }
  EXPECT_EQ(records, 150'000);
}

TEST(StatelessVertex, SwitchPartsInTwo) {
  VertexRun run(Form("switch", {{"function", "is_even"}}));
  run.Take({{0, {0}, Weighted({1, 2, 3}, {5, 6, 7}, 20)}, {0, {1}, MakeBatch({Column({4})})}});
  RecordBatch odd = Weighted({1, 3}, {5, 7}, 20);
  odd.origins = Column({20, 22});
  EXPECT_TRUE(SameRecords(run.At(0, {0}), Weighted({2}, {6}, 21))) << ToString(run.At(0, {0}));
  EXPECT_TRUE(SameRecords(run.At(1, {0}), odd)) << ToString(run.At(1, {0}));
  EXPECT_THAT(run.Times(1), ElementsAre(Timestamp{0})) << "no odd number in epoch 1";
}

TEST(StatelessVertex, WindowsHoldTheEpochsThatTheySay) {
  const int64_t last = std::numeric_limits<int64_t>::max();
  for (const int64_t size : {1, 2, 3, 5, 8}) {
    for (const int64_t slide : {1, 2, 3, 5, 8}) {
      VertexRun run(Form("window", {{"size", size}, {"slide", slide}}));
      std::map<int64_t, std::vector<RecordBatch>> want;  // by the last epoch of the window
      for (int64_t epoch = 0; epoch < 20; ++epoch) {
        const RecordBatch batch = Weighted({epoch}, {2}, epoch);
        run.Take({{0, {epoch}, batch}});
        for (int64_t k = 0; k < 20; ++k) {
          if (epoch < k * slide || epoch >= k * slide + size) continue;
          want[k * slide + size - 1].push_back(batch);
        }
      }
      EXPECT_EQ(run.Times().size(), want.size());
      for (const auto& [end, batches] : want) {
        EXPECT_TRUE(SameRecords(run.At(0, {end}), ConcatBatches(batches, run.input_type())))
            << "size " << size << ", slide " << slide << ", window until " << end;
      }
    }
  }
  VertexRun run(Form("window", {{"size", 4}}));
  run.Take({{0, {last}, MakeBatch({Column({1})})}});  // the window would end at 2^63 - 1: it fits
  EXPECT_THAT(run.Times(), ElementsAre(Timestamp{last}));
  VertexRun beyond(Form("window", {{"size", 4}, {"slide", 2}}));
  beyond.Take({{0, {last}, MakeBatch({Column({1})})}});
  EXPECT_THAT(beyond.Times(), ElementsAre(Timestamp{last}));
  EXPECT_EQ(beyond.dropped(), 1);
}

TEST(StatelessVertex, InspectLogsTheFirstRecordsOfABatch) {
  VertexRun run(Form("inspect", {{"limit", 2}}, 1));
  const RecordBatch batch = Weighted({4, 5, 6}, {1, -2, 1}, 10);
  run.Take({{0, {3, 1}, batch}});
  EXPECT_TRUE(SameRecords(run.At(0, {3, 1}), batch));
  EXPECT_THAT(run.lines(), ElementsAre("'tested' at (3, 1): i64[] {4}; origin 10",
                                       "'tested' at (3, 1): i64[] {5}; origin 11, weight -2"));
  VertexRun ten(Form("inspect"));
  ten.Take({{0, {0}, MakeBatch({Tensor::Zeros(DType::kI64, {100})})}});
  EXPECT_EQ(ten.lines().size(), 10u);
}

TEST(MakeVertex, EveryKindOfAFlowHasAVertexHere) {
  for (const VertexKind& kind : AllVertexKinds()) {
    const bool is_the_jobs = kind.name == "input" || kind.name == "output";
    EXPECT_EQ(HasVertex(kind.name), !is_the_jobs) << kind.name;
  }
}

TEST(MakeVertex, WhatRunsNoRecordsHereIsRefused) {
  auto flow = FlowAround(Form("output"));
  ASSERT_TRUE(flow.ok()) << flow.status();
  for (const int id : {0, 1}) {
    const auto made = MakeVertex({.flow = &*flow, .id = VertexId(id)});
    EXPECT_TRUE(absl::IsUnimplemented(made.status())) << made.status();
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(id == 0 ? "'input'" : "'output'"));
  }
}

}  // namespace
}  // namespace weir
