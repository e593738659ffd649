#include "common/base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace weir {
namespace {

TEST(RandomTest, SameSeedSameNumbers) {
  SeededRandom a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t x = a.Next();
    EXPECT_EQ(x, b.Next());
    differs |= x != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, ForksDoNotDependOnDraws) {
  SeededRandom a(7), b(7);
  a.Next();
  EXPECT_EQ(a.Fork(3).Next(), b.Fork(3).Next());
  EXPECT_NE(a.Fork(3).Next(), a.Fork(4).Next());
}

TEST(RandomTest, BelowReachesEveryValueEvenly) {
  SeededRandom random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[random.Below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomTest, ChanceHonoursItsEnds) {
  SeededRandom random(1);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    EXPECT_FALSE(random.Chance(0));
    EXPECT_TRUE(random.Chance(1));
    hits += random.Chance(0.25);
  }
  EXPECT_NEAR(hits, 2500, 250);
}

TEST(RandomTest, UniqueNamesDiffer) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(UniqueName("w-"));
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_EQ(names.begin()->size(), 18u);
}

}  // namespace
}  // namespace weir
