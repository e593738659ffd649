#include "common/net/sim_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/status.h"
#include "common/net/link_test_forms.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

class SimLinkTest : public ::testing::Test {
 protected:
  // Two hosts with a link that echoes on the far side.
  struct World {
    explicit World(SimOptions options)
        : network(&loop, options), dialer(network.MakeDialer("near")) {
      listener = *network.Listen("far:echo", {}, [this](std::shared_ptr<Link> link) {
        auto weak = std::weak_ptr(link);
        far_events = std::make_shared<Recorder>();  // of the link accepted last
        LinkCallbacks callbacks = far_events->Callbacks();
        callbacks.on_frame = [weak](Frame frame, Credit) {
          if (auto link = weak.lock()) link->Send(std::move(frame)).IgnoreError();
        };
        link->Start(std::move(callbacks));
        far = std::move(link);
      });
    }
    void Dial(DialOptions options = {}) {
      dialer->Dial("far:echo", options, [this](absl::StatusOr<std::shared_ptr<Link>> link) {
        outcome = link.status();
        outcome_at = loop.clock()->Now();
        if (!link.ok()) return;
        near = *std::move(link);
        LinkCallbacks callbacks = near_events->Callbacks();
        callbacks.on_frame = [this](Frame frame, Credit) {
          trace += StrCat(absl::ToUnixNanos(loop.clock()->Now()), " ", frame.header, "\n");
        };
        near->Start(std::move(callbacks));
      });
    }

    SimLoop loop;
    SimNetwork network;
    std::unique_ptr<Dialer> dialer;
    std::shared_ptr<Recorder> near_events = std::make_shared<Recorder>();
    std::shared_ptr<Recorder> far_events;
    std::unique_ptr<Listener> listener;
    std::shared_ptr<Link> near, far;
    std::optional<absl::Status> outcome;
    absl::Time outcome_at;
    std::string trace;
  };

  static std::string TraceOf(uint64_t seed) {
    World world({.seed = seed});
    world.Dial();
    world.loop.RunFor(absl::Seconds(1));
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(world.near->Send({StrCat(i), {SliceOf(std::string(i * 10, 'x'))}}).ok());
      world.loop.RunFor(absl::Microseconds(100));
    }
    world.loop.RunFor(absl::Seconds(1));
    return world.trace;
  }
};

TEST_F(SimLinkTest, SameSeedSameRun) {
  const std::string trace = TraceOf(1);
  EXPECT_THAT(trace, HasSubstr(" 99\n"));
  EXPECT_EQ(trace, TraceOf(1));
  EXPECT_NE(trace, TraceOf(2));
}

TEST_F(SimLinkTest, PartitionHoldsFramesUntilHealed) {
  World world({});
  world.Dial();
  world.loop.RunFor(absl::Seconds(1));
  world.network.Partition("far", "near");
  ASSERT_TRUE(world.near->Send({"held", {}}).ok());
  world.loop.RunFor(absl::Minutes(10));
  EXPECT_EQ(world.trace, "");
  EXPECT_FALSE(world.near_events->closed());
  world.network.Heal("near", "far");
  world.loop.RunFor(absl::Seconds(1));
  EXPECT_THAT(world.trace, HasSubstr("held"));
}

TEST_F(SimLinkTest, DialingAcrossAPartitionTimesOut) {
  World world({});
  world.network.Partition("near", "far");
  world.Dial({.deadline = absl::Seconds(12)});
  world.loop.RunFor(absl::Minutes(1));
  ASSERT_TRUE(world.outcome.has_value());
  EXPECT_EQ(world.outcome->code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LE(world.outcome_at, absl::UnixEpoch() + absl::Seconds(12));
  world.outcome.reset();
  world.network.Heal("near", "far");
  world.Dial();
  world.loop.RunFor(absl::Seconds(1));
  EXPECT_TRUE(world.outcome->ok()) << *world.outcome;
}

TEST_F(SimLinkTest, CutHostEndsBothEnds) {
  World world({.max_delay = absl::Milliseconds(3)});
  world.Dial();
  world.loop.RunFor(absl::Seconds(1));
  ASSERT_TRUE(world.near->Send({"lost", {}}).ok());
  world.network.CutHost("far");
  world.loop.RunFor(absl::Milliseconds(3));
  for (const auto& events : {world.near_events, world.far_events}) {
    ASSERT_TRUE(events->closed().has_value());
    EXPECT_EQ(events->closed()->code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(events->closed()->message()), HasSubstr("the connection was cut"));
  }
  EXPECT_EQ(world.trace, "");
}

TEST_F(SimLinkTest, RandomCutsAreNoticedByBothEnds) {
  int cut = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    World world({.seed = seed, .cut_chance = 0.02});
    world.Dial();
    world.loop.RunFor(absl::Seconds(5));
    if (world.near == nullptr || world.far == nullptr) continue;
    for (int i = 0; i < 30; ++i) world.near->Send({StrCat(i), {}}).IgnoreError();
    world.loop.RunFor(absl::Seconds(1));
    ASSERT_EQ(world.near_events->closed().has_value(), world.far_events->closed().has_value());
    cut += world.near_events->closed().has_value();
  }
  EXPECT_GT(cut, 10);
  EXPECT_LT(cut, 50);
}

TEST_F(SimLinkTest, DialerBacksOffUntilItsDeadline) {
  World world({});
  std::vector<absl::Time> ends;
  for (const auto deadline : {absl::Milliseconds(300), absl::Seconds(20)}) {
    const absl::Time start = world.loop.clock()->Now();
    absl::Status outcome;
    world.dialer->Dial(
        "nobody:there", {.deadline = deadline},
        [&](absl::StatusOr<std::shared_ptr<Link>> link) { outcome = link.status(); });
    ASSERT_TRUE(world.loop.RunUntil([&] { return !outcome.ok(); }, absl::Minutes(5)));
    EXPECT_EQ(outcome.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(outcome.message()), HasSubstr("cannot reach nobody:there ("));
    const absl::Duration took = world.loop.clock()->Now() - start;
    EXPECT_LE(took, deadline);
    EXPECT_GT(took, deadline / 3);
  }
}

}  // namespace
}  // namespace weir
