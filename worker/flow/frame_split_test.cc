#include "worker/flow/frame_split.h"

#include <gtest/gtest.h>

#include <set>

#include "common/flow/record_rows.h"

namespace weir {
namespace {

RecordBatch Numbers(int64_t count) {
  Tensor numbers(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) numbers.mutable_data<int64_t>()[i] = i * 13;
  return MakeBatch({numbers});
}

TEST(SplitFrame, EachKeyGoesToItsWorkerAndEachRecordOnce) {
  for (const int workers : {1, 2, 3, 7, 256}) {
    const RecordBatch batch = Numbers(500);
    std::set<int64_t> seen;
    for (const FramePart& part : SplitFrame(batch, {Routing::To::kKey, 1}, 0, workers, 1 << 20)) {
      const RecordRows rows(part.batch, 1);
      for (int64_t row = 0; row < part.batch.size(); ++row) {
        EXPECT_EQ(WorkerOfGroup(KeyGroupOf(rows.Hash(row)), workers), part.rank);
        EXPECT_TRUE(seen.insert(part.batch.columns[0].At<int64_t>({row})).second);
        EXPECT_EQ(part.batch.origin(row) * 13, part.batch.columns[0].At<int64_t>({row}));
      }
    }
    EXPECT_EQ(seen.size(), 500u);
  }
}

// Columns of all widths, with weights, against the rows taken one by one.
TEST(SplitFrame, RowsOfAllColumnsStayTogetherAndInOrder) {
  constexpr int64_t kRecords = 1000;
  Tensor narrow(DType::kI32, {kRecords});
  Tensor wide(DType::kF32, {kRecords, 3});
  Tensor weights(DType::kI64, {kRecords});
  for (int64_t i = 0; i < kRecords; ++i) {
    narrow.mutable_data<int32_t>()[i] = static_cast<int32_t>(i * 17 % 101);
    weights.mutable_data<int64_t>()[i] = i % 5 - 2;
    for (int64_t k = 0; k < 3; ++k) wide.mutable_data<float>()[i * 3 + k] = 10.0f * i + k;
  }
  RecordBatch batch = MakeBatch({narrow, Numbers(kRecords).columns[0], wide});
  batch.weights = weights;
  for (const int workers : {2, 5, 8, 9, 60}) {
    for (const int keys : {1, 2, 3}) {
      const RecordRows rows(batch, keys);
      std::vector<std::vector<int64_t>> expected(workers);
      for (int64_t row = 0; row < kRecords; ++row) {
        expected[WorkerOfGroup(KeyGroupOf(rows.Hash(row)), workers)].push_back(row);
      }
      int64_t records = 0;
      for (const FramePart& part :
           SplitFrame(batch, {Routing::To::kKey, keys}, 0, workers, int64_t{1} << 20)) {
        const RecordBatch taken = SelectRows(batch, expected[part.rank]);
        ASSERT_EQ(part.batch.size(), taken.size());
        records += taken.size();
        const RecordRows got(part.batch);
        const RecordRows want(taken);
        for (int64_t row = 0; row < taken.size(); ++row) {
          EXPECT_TRUE(got.Equal(row, want, row));
          EXPECT_EQ(part.batch.origin(row), taken.origin(row));
          EXPECT_EQ(part.batch.weight(row), taken.weight(row));
        }
      }
      EXPECT_EQ(records, kRecords);
    }
  }
}

TEST(SplitFrame, RecordsOfOneKeyGoOnWithoutACopy) {
  const Tensor keys = Tensor::Zeros(DType::kI64, {300}).Clone();
  const RecordBatch batch = MakeBatch({keys, Numbers(300).columns[0]});
  for (const int workers : {2, 20}) {
    const auto parts = SplitFrame(batch, {Routing::To::kKey, 1}, 0, workers, int64_t{1} << 20);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].batch.size(), 300);
    EXPECT_EQ(parts[0].batch.columns[1].raw_data(), batch.columns[1].raw_data());
  }
}

TEST(SplitFrame, FramesAreBoundedAndInOrder) {
  const RecordBatch batch = Numbers(100);  // 16 bytes a record
  const std::vector<FramePart> parts = SplitFrame(batch, {Routing::To::kSelf}, 2, 3, 160);
  ASSERT_EQ(parts.size(), 10u);
  for (size_t p = 0; p < parts.size(); ++p) {
    EXPECT_EQ(parts[p].rank, 2);
    EXPECT_EQ(parts[p].batch.origin(0), static_cast<int64_t>(p) * 10);
  }
  EXPECT_EQ(SplitFrame(batch, {Routing::To::kSelf}, 0, 1, 1).size(), 100u);
}

TEST(SplitFrame, ToRootToAllByOriginAndNothingOfNothing) {
  const RecordBatch batch = Numbers(64);
  EXPECT_EQ(SplitFrame(batch, {Routing::To::kRoot}, 2, 3, 1 << 20)[0].rank, 0);
  EXPECT_EQ(SplitFrame(batch, {Routing::To::kAll}, 2, 3, 1 << 20).size(), 3u);
  EXPECT_TRUE(SplitFrame(Numbers(0), {Routing::To::kAll}, 0, 3, 1 << 20).empty());
  EXPECT_TRUE(SplitFrame(Numbers(0), {Routing::To::kKey, 1}, 0, 3, 1 << 20).empty());
  // Whatever a record has become, its origin brings it to the same place.
  for (const FramePart& part : SplitFrame(batch, {Routing::To::kOrigin}, 0, 3, 1 << 20)) {
    RecordBatch other = part.batch;
    other.columns = {Tensor::Zeros(DType::kF32, {part.batch.size()})};
    const std::vector<FramePart> again = SplitFrame(other, {Routing::To::kOrigin}, 1, 3, 1 << 20);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].rank, part.rank);
  }
}

}  // namespace
}  // namespace weir
