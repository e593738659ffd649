// What flows keep: counted, beyond the budget on disk, and given back.
#include "worker/flow/memory/flow_memory.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/record_rows.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBudget = 1 << 20;

std::shared_ptr<FlowMemory> Memory(FlowMemory::Options options = {.budget = kBudget}) {
  auto made = FlowMemory::Make(options);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

RecordBatch Numbers(int64_t records, int64_t first = 0) {
  Tensor keys(DType::kI64, {records});
  std::iota(keys.mutable_data<int64_t>(), keys.mutable_data<int64_t>() + records, first);
  Tensor pairs = Tensor::Zeros(DType::kI8, {records, 3});
  for (int64_t i = 0; i < 3 * records; ++i) {
    pairs.mutable_data<int8_t>()[i] = static_cast<int8_t>(first + i);
  }
  return MakeBatch({keys, pairs}, first);
}

const RecordType kType = {{DType::kI64, Shape()}, {DType::kI8, Shape::FromExtents({3})}};

int OpenFiles() {
  DIR* folder = opendir("/proc/self/fd");
  int files = 0;
  while (readdir(folder) != nullptr) ++files;
  closedir(folder);
  return files;
}

TEST(FlowMemory, GivesBackEqualRecords) {
  const auto share = Memory()->AddFlow();
  RecordBatch weighted = SliceRows(Numbers(1000, 7), 13, 500);
  weighted.weights = Tensor::FromSpan<int64_t>({487}, std::vector<int64_t>(487, -2));
  for (const RecordBatch& batch : {Numbers(1), Numbers(5000, 3), weighted}) {
    auto spilled = share->Spill(batch);
    ASSERT_TRUE(spilled.ok()) << spilled.status();
    EXPECT_EQ(spilled->size(), batch.size());
    EXPECT_GE(share->spilled_bytes(), batch.bytes());
    const RecordBatch read = std::move(*spilled).Read(kType);
    ASSERT_EQ(CheckBatch(read, kType, "read"), absl::OkStatus());
    for (size_t i = 0; i < kType.size(); ++i) {
      EXPECT_TRUE(read.columns[i].BitEquals(batch.columns[i]));
    }
    EXPECT_TRUE(read.origins.BitEquals(batch.origins));
    ASSERT_EQ(read.weights.has_value(), batch.weights.has_value());
    if (batch.weights) {
      EXPECT_TRUE(read.weights->BitEquals(*batch.weights));
    }
  }
  EXPECT_EQ(share->spilled_bytes(), 0);
}

TEST(FlowMemory, HasNoFilesLeftWhenRecordsAreGone) {
  const int before = OpenFiles();
  const auto memory = Memory();
  auto share = memory->AddFlow();
  std::vector<SpilledRecords> all;
  const RecordBatch batch = Numbers(1 << 20);  // 19 MiB: some files
  for (int i = 0; i < 8; ++i) {
    auto spilled = share->Spill(batch);
    ASSERT_TRUE(spilled.ok()) << spilled.status();
    all.push_back(*std::move(spilled));
  }
  EXPECT_GT(OpenFiles(), before + 1);
  EXPECT_GE(memory->spilled_bytes(), 8 * batch.bytes());
  const RecordBatch last = std::move(all.back()).Read(kType);
  all.clear();
  share.reset();
  EXPECT_TRUE(last.columns[0].BitEquals(batch.columns[0])) << "it outlives the flow";
  EXPECT_EQ(memory->flows(), 0);
}

// As records are read, not when all are; but in blocks, as each time is work for the disk.
TEST(FlowMemory, GivesDiskSpaceBackInBlocks) {
  constexpr int64_t kBlock = 4 << 20;
  const auto memory = Memory();
  auto share = memory->AddFlow();
  std::vector<SpilledRecords> all;
  const RecordBatch batch = Numbers(1 << 16);  // 1.2 MiB
  for (int i = 0; i < 16; ++i) {
    auto spilled = share->Spill(batch);
    ASSERT_TRUE(spilled.ok()) << spilled.status();
    all.push_back(*std::move(spilled));
  }
  const int64_t written = memory->spilled_bytes();
  EXPECT_EQ(share->spilled_bytes(), written);
  all.erase(all.begin());
  EXPECT_LT(share->spilled_bytes(), written);
  EXPECT_EQ(memory->spilled_bytes(), written) << "less than a block";
  all.erase(all.begin(), all.begin() + 11);
  EXPECT_EQ(memory->spilled_bytes(), written - 3 * kBlock);
  all.clear();
  EXPECT_EQ(share->spilled_bytes(), 0);
  EXPECT_LT(memory->spilled_bytes(), kBlock);
  share.reset();
  EXPECT_EQ(memory->spilled_bytes(), 0);
}

TEST(FlowMemory, OfFlowsWithLittleStaysInMemory) {
  const auto memory = Memory();
  const auto large = memory->AddFlow();
  const auto small = memory->AddFlow();
  large->Charge(kBudget);
  EXPECT_FALSE(large->is_over());
  small->Charge(kBudget / 4);
  EXPECT_TRUE(large->is_over());
  EXPECT_FALSE(small->is_over());
  small->Charge(kBudget / 2);
  EXPECT_TRUE(small->is_over());
  large->Charge(-kBudget);
  EXPECT_FALSE(small->is_over());
  small->Charge(-kBudget * 3 / 4);
}

// Page tables and tables of batches grow with what is on disk, and leave less for what is not.
TEST(FlowMemory, WhatIsOnDiskTakesMemoryToo) {
  const auto memory = Memory();
  const auto share = memory->AddFlow();
  share->Charge(kBudget * 7 / 8);
  EXPECT_FALSE(share->is_over());
  std::vector<SpilledRecords> all;
  const RecordBatch batch = Numbers(1 << 20);  // 19 MiB
  while (memory->spilled_bytes() < kBudget / 8 * 256) {
    ASSERT_FALSE(share->is_over());
    auto spilled = share->Spill(batch);
    ASSERT_TRUE(spilled.ok()) << spilled.status();
    all.push_back(*std::move(spilled));
  }
  share->Charge(1);
  EXPECT_TRUE(share->is_over());
  EXPECT_FALSE(share->is_far_over());
  // However much it is, a quarter is left.
  share->Charge(-share->kept_bytes() + kBudget / 4);
  EXPECT_FALSE(share->is_over());
  all.clear();
  share->Charge(-share->kept_bytes());
}

TEST(FlowMemory, ChargesEndWithWhatIsKept) {
  const auto memory = Memory();
  const auto share = memory->AddFlow();
  {
    const FlowShare::Scope scope(share.get());
    MemoryCharge charge;
    charge.Set(100);
    MemoryCharge moved = std::move(charge);
    moved.Set(250);
    EXPECT_EQ(share->kept_bytes(), 250);
    charge = std::move(moved);
    EXPECT_EQ(memory->kept_bytes(), 250);
  }
  EXPECT_EQ(share->kept_bytes(), 0);
  EXPECT_EQ(FlowShare::Current(), nullptr);
}

TEST(FlowMemory, TablesGrowIntoFiles) {
  const auto memory = Memory();
  const auto share = memory->AddFlow();
  {
    const FlowShare::Scope scope(share.get());
    TableVector<int64_t> table;
    for (int64_t i = 0; i < 1'000'000; ++i) table.push_back(i);
    EXPECT_GT(share->spilled_bytes(), 7'000'000);
    EXPECT_LT(share->kept_bytes(), 2 * kBudget);
    TableVector<int64_t> other = std::move(table);
    table = TableVector<int64_t>(10, 1);
    table.swap(other);
    for (int64_t i = 0; i < 1'000'000; ++i) ASSERT_EQ(table[i], i);
  }
  EXPECT_EQ(share->kept_bytes(), 0);
  EXPECT_EQ(memory->spilled_bytes(), 0);
}

TEST(FlowMemory, BeyondTheLimitOfTheDiskIsAnError) {
  const auto memory = Memory({.budget = kBudget, .spill_limit = 1000});
  const auto share = memory->AddFlow();
  const auto kept = share->Spill(Numbers(10));
  ASSERT_TRUE(kept.ok()) << kept.status();
  const auto refused = share->Spill(Numbers(100));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.status().ToString(), HasSubstr("--spill-limit, which is 1000"));
  share->Charge(2 * kBudget);
  const FlowShare::Scope scope(share.get());
  EXPECT_THROW(TableVector<int64_t>(100'000), FlowMemoryError);
  share->Charge(-2 * kBudget);
}

TEST(FlowMemory, NeedsAFolderOnADisk) {
  for (const std::string folder : {"/dev/shm", "/not/there", "/proc"}) {
    const auto made = FlowMemory::Make({.budget = kBudget, .spill_directory = folder});
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << folder;
    EXPECT_THAT(made.status().ToString(), HasSubstr("--spill-directory " + folder));
  }
}

}  // namespace
}  // namespace weir
