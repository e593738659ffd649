#include "common/base/service_process.h"

#include <fstream>

#include "common/base/aligned_memory.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr size_t kBytes = size_t{4} << 20;
constexpr int64_t kPages = kBytes / 4096;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

int64_t ResidentPages() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

// Pages that go back to the system when something was received, of a block that was used before.
int64_t PagesGivenBack() {
  ReleaseKeptMemory();
  FreeAligned(AllocateAligned(kBytes), kBytes);
  const int64_t before = ResidentPages();
  ReleaseReceivedMemory();
  return before - ResidentPages();
}

TEST(ServiceProcessTest, WhatWasReceivedGoesBackToTheSystemInAServiceOnly) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept";
  EXPECT_LT(PagesGivenBack(), kPages / 2);
  BecomeServiceProcess();
  EXPECT_GT(PagesGivenBack(), kPages / 2);
  ReleaseKeptMemory();
}

}  // namespace
}  // namespace weir
