#include "common/base/clock.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(ClockTest, MachineClockNeverGoesBack) {
  absl::Time last = RealClock()->Now();
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = RealClock()->Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, ManualClockMovesOnlyWhenTold) {
  ManualClock clock(absl::FromUnixSeconds(1000));
  const absl::Time start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(clock.Now() - start, absl::Milliseconds(1500));
  EXPECT_EQ(clock.WallNow(), absl::FromUnixMillis(1001500));
}

TEST(ClockTest, AdvanceToIgnoresThePast) {
  ManualClock clock;
  const absl::Time start = clock.Now();
  clock.AdvanceTo(start + absl::Seconds(2));
  clock.AdvanceTo(start + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(2));
}

}  // namespace
}  // namespace weir
