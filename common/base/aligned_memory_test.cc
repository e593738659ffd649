#include "common/base/aligned_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace weir {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

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
  ReleaseKeptMemory();
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

// Frees `count` written blocks. Returns: how much of them is still resident.
int64_t PagesKeptOf(int count, size_t bytes) {
  const int64_t before = ResidentPages();
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(AllocateAligned(bytes));
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  for (void* block : blocks) {
    std::memset(block, 1, bytes);
    FreeAligned(block, bytes);
  }
  return ResidentPages() - before;
}

TEST(AlignedMemoryTest, SomeOfWhatWasFreedIsKeptForTheNextUntilItIsReleased) {
  for (const size_t megabytes : {2, 4, 20}) {
    const size_t bytes = megabytes << 20;
    const int64_t pages = static_cast<int64_t>(bytes / 4096);
    const int64_t before = ResidentPages();
    const int64_t kept = PagesKeptOf(40, bytes);
    EXPECT_LT(kept, std::min<int64_t>(20 * pages, (66 << 20) / 4096)) << megabytes;
    EXPECT_GT(kept, kKeepsBlocks ? 2 * pages : -1) << megabytes;
    ReleaseKeptMemory();
    EXPECT_LT(ResidentPages() - before, pages);
  }
}

TEST(AlignedMemoryTest, WhatIsKeptServesTheNextOfNearlyTheSameSize) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept";
  ReleaseKeptMemory();
  void* first = AllocateAligned(400'000);
  FreeAligned(first, 400'000);
  void* second = AllocateAligned(399'000);
  EXPECT_EQ(second, first);
  std::memset(second, 1, 399'000);
  FreeAligned(second, 399'000);
  ReleaseKeptMemory();
}

TEST(AlignedMemoryTest, AServiceKeepsLess) {
  ReleaseKeptMemory();
  LimitKeptMemory();
  EXPECT_LT(PagesKeptOf(10, size_t{4} << 20), 5 * ((4 << 20) / 4096));
  EXPECT_LT(PagesKeptOf(10, size_t{5} << 20), 100) << "and nothing beside what is large";
  ReleaseKeptMemory();
}

TEST(AlignedMemoryTest, TooMuchIsNull) { EXPECT_EQ(AllocateAligned(size_t{1} << 60), nullptr); }

#ifdef __GLIBC__
// Where it does not, malloc holds half as much again for a process in which frames come and go.
TEST(AlignedMemoryTest, SmallMemoryThatWasFreedServesTheNextOfTheSameSize) {
  constexpr size_t kBytes = 70'000;
  std::mt19937 random(1);
  std::vector<void*> blocks(200, nullptr);
  for (int i = 0; i < 40'000; ++i) {
    void*& block = blocks[random() % blocks.size()];
    if (block != nullptr) FreeAligned(block, kBytes);
    block = AllocateAligned(kBytes);
    ASSERT_NE(block, nullptr);
  }
  const struct mallinfo2 info = mallinfo2();
  EXPECT_LE(info.arena, info.uordblks * 5 / 4);
  for (void* block : blocks) FreeAligned(block, kBytes);
}
#endif

}  // namespace
}  // namespace weir
