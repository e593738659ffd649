#include "common/flow/record_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "common/flow/record_rows.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

const RecordType kType = {{DType::kI64, Shape()}, {DType::kF32, Shape({Dim(2)})}};

RecordBatch Batch(std::initializer_list<int64_t> keys, int64_t first_origin = 0) {
  Tensor values(DType::kF32, {static_cast<int64_t>(keys.size()), 2});
  float* value = values.mutable_data<float>();
  for (const int64_t key : keys) {
    *value++ = static_cast<float>(key);
    *value++ = 0.5f;
  }
  return MakeBatch({Tensor::Of<int64_t>({static_cast<int64_t>(keys.size())}, keys), values},
                   first_origin);
}

TEST(RecordBatch, RowsAreSelectedSlicedAndConcatenated) {
  const RecordBatch batch = Batch({7, 8, 9});
  const RecordBatch two = SelectRows(batch, {2, 0});
  EXPECT_EQ(two.columns[0].At<int64_t>({0}), 9);
  EXPECT_EQ(two.columns[1].At<float>({1, 0}), 7.0f);
  EXPECT_EQ(two.origin(0), 2);
  const RecordBatch tail = SliceRows(batch, 1, 3);
  EXPECT_EQ(tail.origin(0), 1);
  const RecordBatch all = ConcatBatches({two, tail}, kType);
  EXPECT_EQ(all.size(), 4);
  EXPECT_EQ(all.columns[0].At<int64_t>({3}), 9);
  EXPECT_EQ(CheckBatch(all, kType, "all"), absl::OkStatus());
  EXPECT_EQ(EmptyBatch(kType).size(), 0);
  EXPECT_EQ(CheckBatch(EmptyBatch(kType), kType, "none"), absl::OkStatus());
}

TEST(RecordBatch, AFaultNamesTheColumn) {
  RecordBatch batch = Batch({7, 8});
  batch.columns[1] = Tensor::Zeros(DType::kF32, {2, 3});
  EXPECT_THAT(std::string(CheckBatch(batch, kType, "'a'").message()),
              HasSubstr("'a': column 1 is f32[2,3] for 2 records of f32[2]"));
  batch.columns.pop_back();
  EXPECT_THAT(std::string(CheckBatch(batch, kType, "'a'").message()), HasSubstr("1 columns"));
}

TEST(RecordBatch, WeightsOfEqualRecordsAddUp) {
  RecordBatch batch = ConcatBatches({Batch({5, 6}, 10), Batch({5, 7, 6}, 0)}, kType);
  batch.weights = Tensor::Of<int64_t>({5}, {1, 2, 3, 4, -2});
  const RecordBatch sum = Consolidated(batch);
  ASSERT_EQ(sum.size(), 2);  // 5 with 4, 7 with 4; 6 is gone
  EXPECT_EQ(sum.origin(0), 0);
  EXPECT_EQ(sum.columns[0].At<int64_t>({0}), 5);
  EXPECT_EQ(sum.weight(0), 4);
  EXPECT_EQ(sum.columns[0].At<int64_t>({1}), 7);
  EXPECT_EQ(sum.weight(1), 4);
}

TEST(RecordBatch, TheLeastOriginIsOfWhatIsLeft) {
  // 5 came and went with origin 0, and is there with origin 10; so it is of 10.
  RecordBatch batch = ConcatBatches({Batch({5}, 0), Batch({5}, 10), Batch({5}, 0)}, kType);
  batch.weights = Tensor::Of<int64_t>({3}, {1, 2, -1});
  const RecordBatch merged = Merged(batch);
  ASSERT_EQ(merged.size(), 1);
  EXPECT_EQ(merged.origin(0), 10);
  EXPECT_EQ(Consolidated(batch).origin(0), 10);
  EXPECT_EQ(Consolidated(batch).weight(0), 2);
}

TEST(RecordBatch, OnlyRecordsOfOneOriginAreMerged) {
  RecordBatch batch = ConcatBatches({Batch({6, 5}, 1), Batch({5}, 0), Batch({6, 5}, 1)}, kType);
  const RecordBatch merged = Merged(batch);
  ASSERT_EQ(merged.size(), 3);  // 5 of origin 0, 6 of 1 twice, 5 of 2 twice
  EXPECT_EQ(merged.origin(2), 2);
  EXPECT_EQ(merged.weight(0), 1);
  EXPECT_EQ(merged.weight(2), 2);
}

TEST(RecordBatch, SumsOfWeightsWrap) {
  RecordBatch batch = Batch({5, 5});
  batch.weights = Tensor::Of<int64_t>({2}, {std::numeric_limits<int64_t>::max(), 1});
  EXPECT_EQ(Consolidated(batch).weight(0), std::numeric_limits<int64_t>::min());
}

TEST(RecordBatch, TheOrderDoesNotDependOnTheWay) {
  const RecordBatch one = ConcatBatches({Batch({5, 6}, 3), Batch({9, 1}, 0)}, kType);
  const RecordBatch two = ConcatBatches({Batch({9, 1}, 0), Batch({5, 6}, 3)}, kType);
  const RecordBatch a = Sorted(one);
  const RecordBatch b = Sorted(two);
  EXPECT_TRUE(a.columns[0].BitEquals(b.columns[0]));
  EXPECT_EQ(a.columns[0].At<int64_t>({0}), 9);
}

TEST(RecordRows, KeysSpreadOverAllWorkersAndEachHasOne) {
  Tensor keys(DType::kI64, {10'000});
  for (int64_t i = 0; i < 10'000; ++i) keys.mutable_data<int64_t>()[i] = i * 8;
  const RecordBatch batch = MakeBatch({keys});
  const RecordRows rows(batch);
  std::vector<int> counts(3);
  for (int64_t i = 0; i < batch.size(); ++i) {
    ++counts[WorkerOfGroup(KeyGroupOf(rows.Hash(i)), 3)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 3333, 500);
  std::set<int> groups;
  for (int group = 0; group < kKeyGroups; ++group) groups.insert(WorkerOfGroup(group, 7));
  EXPECT_EQ(groups.size(), 7u);
}

}  // namespace
}  // namespace weir
