#include "worker/device/cpu/compute_thread.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace weir::cpu {
namespace {

TEST(PartOfCpus, EveryCpuIsInOnePart) {
  const CpuSet all = PartOfCpus(0, 1);
  ASSERT_FALSE(all.empty());
  const int parts = static_cast<int>(all.size());
  CpuSet joined;
  for (int i = 0; i < parts; ++i) {
    const CpuSet part = PartOfCpus(i, parts);
    EXPECT_EQ(part.size(), 1u);
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, all);
  EXPECT_TRUE(PartOfCpus(0, parts + 1).empty());
}

TEST(EnterComputeThread, StaysOnItsCpus) {
  const CpuSet last = {PartOfCpus(0, 1).back()};
  std::thread([&] {
    EnterComputeThread(last);
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    EXPECT_EQ(CPU_COUNT(&allowed), 1);
    EXPECT_TRUE(CPU_ISSET(last[0], &allowed));
  }).join();
}

}  // namespace
}  // namespace weir::cpu
