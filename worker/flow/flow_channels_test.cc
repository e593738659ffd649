#include "worker/flow/flow_channels.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr LocationId kInput(7);

TEST(FlowChannels, TheFullestChannelCountsAndHoldsAreLetGoInOrder) {
  FlowChannels channels(3);
  const auto first = std::make_shared<int>(1);
  const auto second = std::make_shared<int>(2);
  channels.Sent(kInput, 1, 100, first);
  channels.Sent(kInput, 1, 50, second);
  channels.Sent(kInput, 2, 120, nullptr);
  EXPECT_EQ(channels.UnderWay(kInput), 150);
  EXPECT_EQ(channels.Taken(kInput, 1, 99), absl::OkStatus());
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(channels.Taken(kInput, 1, 1), absl::OkStatus());
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 2);
  EXPECT_EQ(channels.UnderWay(kInput), 120);
  EXPECT_EQ(channels.Taken(kInput, 2, 120), absl::OkStatus());
  EXPECT_EQ(channels.UnderWay(kInput), 50);
  EXPECT_EQ(channels.Taken(kInput, 1, 50), absl::OkStatus());
  EXPECT_EQ(channels.UnderWay(kInput), 0);
  EXPECT_EQ(channels.bytes_under_way(), 0);
}

TEST(FlowChannels, CreditThatNobodyOwesIsAnError) {
  FlowChannels channels(2);
  EXPECT_FALSE(channels.Taken(kInput, 1, 1).ok());
  channels.Sent(kInput, 1, 10, nullptr);
  EXPECT_EQ(channels.Taken(kInput, 1, 4), absl::OkStatus());
  EXPECT_FALSE(channels.Taken(kInput, 1, 7).ok());
  EXPECT_FALSE(channels.Taken(kInput, 1, -1).ok());
  EXPECT_EQ(channels.Taken(kInput, 1, 6), absl::OkStatus());
}

TEST(FlowChannels, FramesOfAWorkerComeOnceAndInOrder) {
  FlowChannels channels(2);
  EXPECT_EQ(channels.NextNumber(1), 1u);
  EXPECT_EQ(channels.CheckNumber(1, 1), absl::OkStatus());
  EXPECT_EQ(channels.CheckNumber(1, 1).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(channels.CheckNumber(1, 3).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(channels.CheckNumber(0, 1), absl::OkStatus());
  EXPECT_EQ(channels.CheckNumber(1, 2), absl::OkStatus());
}

TEST(FlowChannels, WhatIsOwedAddsUp) {
  FlowChannels channels(2);
  channels.Owe(1, kInput, 5);
  channels.Owe(1, kInput, 7);
  const auto owed = channels.TakeOwed();
  ASSERT_EQ(owed.size(), 1u);
  EXPECT_EQ(owed.begin()->second, 12);
  EXPECT_TRUE(channels.TakeOwed().empty());
}

}  // namespace
}  // namespace weir
