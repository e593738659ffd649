// Records in the order of their keys, and vertices with so many keys that they take them so.
#include "worker/flow/keyed/key_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/flow/record_rows.h"
#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

size_t PartOf(const RecordBatch& batch, int keys, int64_t row) {
  uint64_t hash = 0;
  KeyRows(batch.columns, keys, batch.size()).Hashes(row, {&hash, 1});
  return KeyPartOf(hash);
}

// By part, else as they came: what SelectRows makes of a stable sort.
RecordBatch Expected(const RecordBatch& all, int keys) {
  std::vector<int64_t> rows(all.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<size_t> parts;
  for (int64_t row = 0; row < all.size(); ++row) parts.push_back(PartOf(all, keys, row));
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int64_t a, int64_t b) { return parts[a] < parts[b]; });
  return SelectRows(all, rows);
}

RecordBatch InOrder(std::vector<RecordBatch> batches, const RecordType& type, int keys) {
  std::vector<RecordBatch> ordered;
  for (KeyOrder order(std::move(batches), type, keys); !order.done();) {
    ordered.push_back(order.Next());
    EXPECT_FALSE(ordered.back().empty());
  }
  return ConcatBatches(ordered, type);
}

void ExpectSameRows(const RecordBatch& got, const RecordBatch& want) {
  ASSERT_EQ(got.size(), want.size());
  const RecordRows a(got);
  const RecordRows b(want);
  for (int64_t row = 0; row < got.size(); ++row) {
    ASSERT_TRUE(a.Equal(row, b, row)) << "row " << row;
    ASSERT_EQ(got.origin(row), want.origin(row));
    ASSERT_EQ(got.weight(row), want.weight(row));
  }
}

TEST(KeyOrder, RowsComeByPartAndStayInOrderWithinIt) {
  struct Shape {
    std::vector<std::string> columns;
    int keys;
  };
  const std::vector<Shape> shapes = {{{"i64[]", "f64[]"}, 1},
                                     {{"i32[]", "i8[3]", "bool[]"}, 2},
                                     {{"f32[20]"}, 1},
                                     {{"i64[]", "i64[]"}, 2}};
  for (const Shape& shape : shapes) {
    const RecordType type = TypeOf(shape.columns);
    std::mt19937_64 random(5);
    std::vector<RecordBatch> batches;
    for (const RandomWeights weights : {RandomWeights::kNone, RandomWeights::kAny}) {
      for (const int64_t rows : {300, 0, 1, 500}) {
        const RandomFrames form = {.records = 400, .values = 300, .weights = weights};
        batches.push_back(RandomRecords(type, rows, form, random));
      }
    }
    const RecordBatch all = ConcatBatches(batches, type);
    ExpectSameRows(InOrder(batches, type, shape.keys), Expected(all, shape.keys));
  }
}

TEST(KeyOrder, BatchesOfAllSizesComeOutInOrder) {
  const RecordType type = TypeOf({"i64[]", "i32[]"});
  std::mt19937_64 random(7);
  std::vector<RecordBatch> batches;
  for (const int64_t rows : {40'000, 20'000, 10'000, 70'000, 1, 65'536, 3}) {
    batches.push_back(RandomRecords(type, rows, {.records = 1000, .values = 50'000}, random));
  }
  const RecordBatch all = ConcatBatches(batches, type);
  const RecordBatch ordered = InOrder(batches, type, 1);
  ExpectSameRows(ordered, Expected(all, 1));
  ExpectSameRows(InOrder({ordered}, type, 1), ordered);
}

TEST(KeyOrder, OneKeyAndNoRecordsAreInOrder) {
  const RecordType type = TypeOf({"i64[]"});
  EXPECT_TRUE(KeyOrder({}, type, 1).done());
  EXPECT_TRUE(KeyOrder({EmptyBatch(type), EmptyBatch(type)}, type, 1).done());
  const RecordBatch same = MakeBatch({Tensor::Zeros(DType::kI64, {1000}).Clone()});
  ExpectSameRows(InOrder({same, same}, type, 1), ConcatBatches({same, same}, type));
}

TEST(KeyOrder, IsWorthItForManyRecordsAndKeysOnly) {
  const std::vector<RecordBatch> many(
      4, MakeBatch({Tensor::Zeros(DType::kI64, {int64_t{64} << 10}).Clone()}));
  EXPECT_EQ(WorthOrdering(many, 0, 1000), 0u);
  EXPECT_EQ(WorthOrdering(many, 0, 1'000'000), 4u);
  EXPECT_EQ(WorthOrdering(many, 1, 1'000'000), 3u);
  EXPECT_EQ(WorthOrdering(many, 3, 1'000'000), 0u) << "few records are left";
  const auto memory = FlowMemory::Make({.budget = 1 << 20});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto share = (*memory)->AddFlow();
  const FlowShare::Scope scope(share.get());
  EXPECT_EQ(WorthOrdering(many, 0, 1'000'000), 0u) << "there is no memory for it";
}

// Frames of one time with more keys than the cache has room for, and records in no order.
std::vector<TestFrame> ManyFrames(const FlowVertex& vertex, int64_t records, int64_t keys,
                                  RandomWeights weights) {
  std::mt19937_64 random(11);
  std::vector<TestFrame> frames;
  for (int input = 0; input < static_cast<int>(vertex.input_types.size()); ++input) {
    for (int64_t begin = 0; begin < records; begin += 30'000) {
      const RandomFrames form = {.records = records, .values = keys, .weights = weights};
      frames.push_back({input,
                        {0},
                        RandomRecords(vertex.input_types[input],
                                      std::min<int64_t>(30'000, records - begin), form, random)});
    }
  }
  return frames;
}

VertexForm Form(std::string kind, std::vector<std::vector<std::string>> inputs, Attrs attrs) {
  return {.kind = std::move(kind), .inputs = std::move(inputs), .attrs = std::move(attrs)};
}

// Of floats the order of a key's records shows in the bits of its sum.
TEST(KeyOrder, VerticesWithManyKeysAgreeWithTheOracle) {
  const Attrs sum = {{"keys", 1}, {"combine", "sum"}};
  const auto in_job = [](Attrs attrs, const char* emit) {
    attrs.insert({"state", Attr("job")});
    if (*emit != 0) attrs.insert({"emit", Attr(emit)});
    return attrs;
  };
  struct Case {
    VertexForm form;
    RandomWeights weights = RandomWeights::kNone;
  };
  const std::vector<Case> cases = {
      {Form("reduce_by_key", {{"i64[]", "i64[]"}}, sum)},
      {Form("reduce_by_key", {{"i32[]", "f64[]"}}, sum), RandomWeights::kPositive},
      {Form("reduce_by_key", {{"i64[]", "i64[]"}}, in_job(sum, "changes")), RandomWeights::kAny},
      {Form("join", {{"i64[]", "f32[]"}, {"i64[]", "i8[]"}}, {{"keys", 1}})},
      {Form("join", {{"i64[]"}, {"i64[]"}}, in_job({{"keys", 1}}, "")), RandomWeights::kAny}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.form.kind + " of " + each.form.inputs[0].back());
    const auto flow = FlowAround(each.form);
    ASSERT_TRUE(flow.ok()) << flow.status();
    const auto frames = ManyFrames(flow->vertices.back(), 200'000, 90'000, each.weights);
    ExpectRunAsTheOracle(each.form, frames, 1, OracleOutputs(*flow, frames));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir
