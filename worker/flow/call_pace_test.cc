#include "worker/flow/call_pace.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(CallPaceTest, FollowsWhatCallsTake) {
  CallPace pace;
  EXPECT_EQ(pace.Predict(1), std::nullopt);
  for (int i = 0; i < 50; ++i) pace.Took(100, 5'000);
  EXPECT_NEAR(static_cast<double>(*pace.Predict(10)), 500, 1);
  for (int i = 0; i < 50; ++i) pace.Took(100, 500'000);
  EXPECT_NEAR(static_cast<double>(*pace.Predict(10)), 50'000, 100);
}

TEST(CallPaceTest, OneCallThatWaitedForAProcessorIsNotTheRule) {
  CallPace pace;
  for (int i = 0; i < 50; ++i) pace.Took(1, 1'000);
  pace.Took(1, 50'000'000);
  EXPECT_LT(*pace.Predict(1), 3'000);
  // Nor is it if it was the first one.
  CallPace fresh;
  fresh.Took(1, 50'000'000);
  for (int i = 0; i < 40; ++i) fresh.Took(1, 1'000);
  EXPECT_LT(*fresh.Predict(1), 3'000);
}

}  // namespace
}  // namespace weir
