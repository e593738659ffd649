#include "client/embedded/direct_pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

using std::chrono::microseconds;

// Calls, this one included, until one is due.
int CallsUntilDue(DirectPace* pace) {
  int calls = 1;
  while (!pace->IsDue()) ++calls;
  return calls;
}

TEST(DirectPaceTest, IsGoodOnceARunWasWorthIt) {
  DirectPace pace(microseconds(100));
  EXPECT_FALSE(pace.IsGood());
  EXPECT_TRUE(pace.IsDue());
  pace.Took(microseconds(300));  // the first run makes everything ready
  EXPECT_FALSE(pace.IsGood());
  EXPECT_EQ(CallsUntilDue(&pace), 2);
  pace.Took(microseconds(20));
  EXPECT_TRUE(pace.IsGood());
}

TEST(DirectPaceTest, OneRunThatTookLongIsForgiven) {
  DirectPace pace(microseconds(100));
  pace.Took(microseconds(50));
  pace.Took(microseconds(9000));
  EXPECT_TRUE(pace.IsGood());
  pace.Took(microseconds(50));
  pace.Took(microseconds(9000));
  EXPECT_TRUE(pace.IsGood());
}

TEST(DirectPaceTest, RunsThatKeepTakingLongAreNot) {
  DirectPace pace(microseconds(100));
  pace.Took(microseconds(20));
  int runs = 0;
  while (pace.IsGood()) {
    pace.Took(microseconds(9000));
    ASSERT_LT(++runs, 20);
  }
}

TEST(DirectPaceTest, TriesAgainAfterMoreAndMoreCalls) {
  DirectPace pace(microseconds(100));
  std::vector<int> waits;
  for (int i = 0; i < 14; ++i) {
    waits.push_back(CallsUntilDue(&pace));
    pace.Took(microseconds(500));
  }
  EXPECT_EQ(waits, (std::vector<int>{1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1025, 1025, 1025}));
  pace.Took(microseconds(10));
  EXPECT_TRUE(pace.IsGood());
}

}  // namespace
}  // namespace weir
