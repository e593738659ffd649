#include "worker/flow/keyed/sorted_records.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/keyed/oracle_testing.h"

namespace weir {
namespace {

// Frames of few origins and contents, so that all that orders records does.
std::vector<RecordBatch> Frames(const RecordType& type, std::mt19937_64& random) {
  std::vector<RecordBatch> frames;
  const int count = static_cast<int>(random() % 20);
  for (int i = 0; i < count; ++i) {
    const RandomFrames shape = {.values = 2, .weights = static_cast<RandomWeights>(random() % 3)};
    const auto records = static_cast<int64_t>(1 + random() % 30);
    frames.push_back(RandomRecords(type, records, shape, random));
  }
  return frames;
}

const RecordType kType = {{DType::kI64, Shape()}, {DType::kF32, Shape::FromExtents({2})}};

// Calls `test` with memory for all records, for some of them, and for next to none.
template <class Test>
void WithMemory(const Test& test) {
  for (const int64_t budget : {int64_t{8}, int64_t{4'000}, int64_t{1} << 30}) {
    const auto memory = FlowMemory::Make({.budget = budget});
    ASSERT_TRUE(memory.ok()) << memory.status();
    const auto share = (*memory)->AddFlow();
    const FlowShare::Scope scope(share.get());
    for (uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "budget " << budget << " seed " << seed);
      std::mt19937_64 random(seed);
      test(random);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(share->kept_bytes(), 0);
    EXPECT_EQ(share->spilled_bytes(), 0);
  }
}

void ExpectSame(const RecordBatch& got, const RecordBatch& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (int64_t row = 0; row < got.size(); ++row) {
    ASSERT_EQ(got.origin(row), wanted.origin(row)) << row;
    ASSERT_EQ(got.weight(row), wanted.weight(row)) << row;
    ASSERT_TRUE(RecordRows(got).Equal(row, RecordRows(wanted), row)) << row;
  }
}

TEST(SortedRecords, AreThoseOfOneSortWhateverFitsIntoMemory) {
  WithMemory([](std::mt19937_64& random) {
    const std::vector<RecordBatch> frames = Frames(kType, random);
    SortedRecords sorted(kType);
    sorted.Begin(frames);
    while (!sorted.is_sorted()) ASSERT_EQ(sorted.SortSome(), absl::OkStatus());
    std::vector<RecordBatch> got;
    while (!sorted.done()) {
      const auto most = static_cast<int64_t>(1 + random() % 40);
      got.push_back(sorted.Next(most));
      ASSERT_FALSE(got.back().empty());
    }
    ExpectSame(ConcatBatches(got, kType), SortRecords(frames, kType));
  });
}

TEST(SortedRecords, EqualOnesAreOneWhereverTheyWereCut) {
  WithMemory([](std::mt19937_64& random) {
    const std::vector<RecordBatch> frames = Frames(kType, random);
    const int64_t most = 1 + static_cast<int64_t>(random() % 5);
    SortedRecords sorted(kType);
    sorted.Begin(frames);
    while (!sorted.is_sorted()) ASSERT_EQ(sorted.SortSome(), absl::OkStatus());
    std::vector<RecordBatch> got;
    while (!sorted.done()) {
      got.push_back(sorted.NextMerged(most));
      ASSERT_LE(got.back().size(), most + 1);
    }
    ExpectSame(ConcatBatches(got, kType), MergeRecords(frames, kType));
  });
}

// In memory or on disk: as runs come to their end they are given back.
TEST(SortedRecords, WhatWasReadTakesNoRoom) {
  constexpr int64_t kFrameRecords = 1000;
  for (const int64_t budget : {int64_t{8}, int64_t{200'000}}) {
    const auto memory = FlowMemory::Make({.budget = budget});
    ASSERT_TRUE(memory.ok()) << memory.status();
    const auto share = (*memory)->AddFlow();
    const auto taken = [&](const SortedRecords& sorted) {
      return share->spilled_bytes() + sorted.bytes();
    };
    const RecordType type = {{DType::kI64, Shape()}};
    SortedRecords sorted(type);
    std::vector<RecordBatch> frames;
    for (int64_t i = 0; i < 20; ++i) {
      frames.push_back(
          MakeBatch({Tensor::Zeros(DType::kI64, {kFrameRecords})}, kFrameRecords * (19 - i)));
    }
    sorted.Begin(std::move(frames));
    {
      const FlowShare::Scope scope(share.get());
      while (!sorted.is_sorted()) ASSERT_EQ(sorted.SortSome(), absl::OkStatus());
    }
    const int64_t all = taken(sorted);
    EXPECT_GE(all, 20 * kFrameRecords * 16);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(sorted.Next(kFrameRecords).size(), kFrameRecords);
    EXPECT_LE(taken(sorted), all / 2 + all / 20);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(sorted.Next(kFrameRecords).size(), kFrameRecords);
    EXPECT_TRUE(sorted.done());
    EXPECT_EQ(taken(sorted), 0);
  }
}

}  // namespace
}  // namespace weir
