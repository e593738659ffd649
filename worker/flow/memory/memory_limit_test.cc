#include "worker/flow/memory/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace weir {
namespace {

// A folder that stands for what the kernel shows.
class MemoryLimits : public testing::Test {
 protected:
  MemoryLimits() : root_(testing::TempDir() + "/groups") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~MemoryLimits() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  int64_t Limit() { return MemoryLimit({.own_groups = root_ + "/own", .groups = root_}); }

 private:
  const std::string root_;
};

TEST_F(MemoryLimits, AreThoseOfTheMachineWithoutGroups) {
  const int64_t all = Limit();
  EXPECT_GT(all, 64 << 20);
  Write("own", "0::/");
  EXPECT_EQ(Limit(), all);
  Write("own", "nonsense\n3:memory");
  EXPECT_EQ(Limit(), all);
}

TEST_F(MemoryLimits, AreTheLeastOfTheGroupsAround) {
  Write("own", "0::/outer/inner");
  Write("outer/inner/memory.max", "max");
  Write("outer/memory.max", "33554432");
  EXPECT_EQ(Limit(), 32 << 20);
  Write("outer/inner/memory.max", "16777216");
  EXPECT_EQ(Limit(), 16 << 20);
}

TEST_F(MemoryLimits, MayBeOfTheFirstVersionOfGroups) {
  Write("own", "5:cpu:/other\n4:memory:/jobs/one\n0::/");
  Write("memory/jobs/one/memory.limit_in_bytes", "9223372036854771712");
  const int64_t all = Limit();
  EXPECT_GT(all, 64 << 20);
  EXPECT_LT(all, int64_t{1} << 60);
  Write("memory/jobs/memory.limit_in_bytes", "8388608");
  EXPECT_EQ(Limit(), 8 << 20);
}

}  // namespace
}  // namespace weir
