#include "worker/flow/keyed/merge_records.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "worker/flow/records_testing.h"

namespace weir {
namespace {

const RecordType kType = {{DType::kI64, Shape()}, {DType::kI8, Shape({Dim(3)})}};

RecordBatch Random(int64_t records, int64_t origins, int64_t least, bool weighted,
                   std::mt19937_64& random) {
  Tensor first(DType::kI64, {records});
  Tensor second(DType::kI8, {records, 3});
  Tensor origin(DType::kI64, {records});
  Tensor weight(DType::kI64, {records});
  for (int64_t i = 0; i < records; ++i) {
    first.mutable_data<int64_t>()[i] = static_cast<int64_t>(random() % 3) - 1;
    for (int64_t j = 0; j < 3; ++j) {
      second.mutable_data<int8_t>()[3 * i + j] = static_cast<int8_t>(random() % 2);
    }
    origin.mutable_data<int64_t>()[i] = least + static_cast<int64_t>(random() % origins);
    weight.mutable_data<int64_t>()[i] = static_cast<int64_t>(random() % 4) - 1;
  }
  RecordBatch batch = {.columns = {first, second}, .origins = origin};
  if (weighted) batch.weights = weight;
  return batch;
}

TEST(MergeRecords, IsWhatTheDefinitionSays) {
  std::mt19937_64 random(7);
  for (const int64_t records : {0, 1, 5, 100, 3000}) {
    for (const int64_t origins : {int64_t{1}, int64_t{20}, int64_t{10'000'000'000}}) {
      for (const int64_t least : {int64_t{0}, std::numeric_limits<int64_t>::min()}) {
        for (const bool weighted : {false, true}) {
          const std::vector<RecordBatch> batches = {
              Random(records, origins, least, weighted, random),
              Random(records / 3, origins, least, false, random),
              Random(0, origins, least, weighted, random)};
          const RecordBatch all = ConcatBatches(batches, kType);
          const RecordBatch merged = MergeRecords(batches, kType);
          EXPECT_TRUE(SameRecords(merged, Merged(all))) << records << " " << origins;
          EXPECT_TRUE(merged.origins.BitEquals(Merged(all).origins)) << "the order counts";
          EXPECT_TRUE(merged.columns[1].BitEquals(Merged(all).columns[1]));
          const RecordBatch sorted = SortRecords(batches, kType);
          EXPECT_TRUE(SameRecords(sorted, all));
          EXPECT_TRUE(sorted.origins.BitEquals(Sorted(all).origins));
          EXPECT_TRUE(sorted.columns[0].BitEquals(Sorted(all).columns[0]));
        }
      }
    }
  }
}

TEST(MergeRecords, FramesInOrderAreNotSorted) {
  const RecordBatch first =
      MakeBatch({Tensor::Of<int64_t>({2}, {5, 6}), Tensor::Zeros(DType::kI8, {2, 3})});
  const RecordBatch second =
      MakeBatch({Tensor::Of<int64_t>({1}, {4}), Tensor::Zeros(DType::kI8, {1, 3})}, 2);
  const RecordBatch merged = MergeRecords({second, first}, kType);
  EXPECT_TRUE(merged.columns[0].BitEquals(Tensor::Of<int64_t>({3}, {5, 6, 4})));
  EXPECT_FALSE(merged.weights.has_value());
}

TEST(MergeRecords, KnowsWeights) {
  RecordBatch batch =
      MakeBatch({Tensor::Of<int64_t>({2}, {5, 6}), Tensor::Zeros(DType::kI8, {2, 3})});
  EXPECT_EQ(Weights({batch, batch}), WeightsOf::kOnes);
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto of = [&](int64_t a, int64_t b) {
    RecordBatch weighted = batch;
    weighted.weights = Tensor::Of<int64_t>({2}, {a, b});
    return Weights({weighted});
  };
  EXPECT_EQ(of(1, 1), WeightsOf::kOnes);
  EXPECT_EQ(of(1, 2), WeightsOf::kPositive);
  EXPECT_EQ(of(1, 0), WeightsOf::kAny);
  EXPECT_EQ(of(1, -1), WeightsOf::kAny);
  EXPECT_EQ(of(1, most), WeightsOf::kAny) << "the sum wraps";
}

}  // namespace
}  // namespace weir
