#include "common/base/aligned_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace weir {
namespace {

int64_t ResidentPages() {
  std::ifstream statm("/proc/self/statm");
  int64_t size, resident;
  statm >> size >> resident;
  return resident;
}

TEST(AlignedMemoryTest, EverySizeIsAligned) {
  for (size_t bytes : {size_t{1}, size_t{63}, size_t{100}, (size_t{1} << 20) - 1, size_t{1} << 20,
                       (size_t{9} << 20) + 1}) {
    void* memory = AllocateAligned(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kMemoryAlignment, 0u);
    std::memset(memory, 1, bytes);
    FreeAligned(memory, bytes);
  }
}

TEST(AlignedMemoryTest, LargeMemoryIsTakenAsItIsWrittenAndGivenBack) {
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int64_t kPages = kBytes / 4096;
  const int64_t before = ResidentPages();
  void* memory = AllocateAligned(kBytes);
  ASSERT_NE(memory, nullptr);
  EXPECT_LT(ResidentPages() - before, kPages / 8);
  std::memset(memory, 1, kBytes);
  EXPECT_GT(ResidentPages() - before, kPages * 7 / 8);
  FreeAligned(memory, kBytes);
  EXPECT_LT(ResidentPages() - before, kPages / 8);
}

TEST(AlignedMemoryTest, MemoryOfAMiddleSizeIsKeptForTheNextUntilItIsReleased) {
  constexpr size_t kBytes = size_t{2} << 20;
  constexpr int kBlocks = 10;
  const int64_t before = ResidentPages();
  std::vector<void*> blocks;
  for (int i = 0; i < kBlocks; ++i) blocks.push_back(AllocateAligned(kBytes));
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  for (void* block : blocks) {
    std::memset(block, 1, kBytes);
    FreeAligned(block, kBytes);
  }
  constexpr int64_t kPages = kBytes / 4096;
  EXPECT_LT(ResidentPages() - before, 5 * kPages) << "more than a few blocks are kept";
  ReleaseKeptMemory();
  EXPECT_LT(ResidentPages() - before, kPages);
}

TEST(AlignedMemoryTest, TooMuchIsNull) { EXPECT_EQ(AllocateAligned(size_t{1} << 60), nullptr); }

}  // namespace
}  // namespace weir
