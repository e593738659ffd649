// Programs that stay deployed: runs of one are its epochs, which overlap and do not wait for one
// another.
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/jobs/core_test_harness.h"

namespace weir {
namespace {

TEST(DeployedProgram, ASlowRunDoesNotKeepLaterOnesWaiting) {
  constexpr absl::Duration kLong = absl::Milliseconds(150);
  Limits limits;
  limits.max_jobs_in_flight = 2;
  limits.lost_after = absl::Hours(1);
  CoreHarness harness(limits);
  harness.AddWorker(1, "w1");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(harness.Submit("p", i).ok());
  harness.CompileAll();
  harness.LoadAll();
  EXPECT_EQ(harness.TakeStarts().size(), 2u);
  harness.clock.Advance(kLong);
  harness.core.OnTick();
  std::vector<SentToWorker> starts = harness.TakeStarts();
  EXPECT_EQ(starts.size(), 2u);  // beside two that are slow
  harness.FinishRun(starts[0]);  // before the first ones
  EXPECT_EQ(harness.State("job-3"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  EXPECT_EQ(harness.TakeStarts().size(), 1u);
  // Not without end: a worker holds the inputs of all that run.
  size_t started = 4;
  for (int i = 0; i < 100; ++i) {
    harness.clock.Advance(kLong);
    harness.core.OnTick();
    started += harness.TakeStarts().size();
  }
  EXPECT_EQ(started, 60u);
  EXPECT_EQ(harness.core.Stats().jobs_queued, 100 - 1 - 60);
  ASSERT_TRUE(harness.core.Cancel("job-1").ok());
  EXPECT_EQ(harness.TakeStarts().size(), 2u);
}

// Whoever runs a program again finds it deployed: compiled once, at the workers once.
TEST(DeployedProgram, RunsOfOneProgramAreItsEpochsAndOverlap) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  harness.AddWorker(2, "w2");
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  harness.CompileAll();
  harness.LoadAll();
  std::vector<SentToWorker> first = harness.TakeStarts();
  ASSERT_TRUE(harness.Submit("p", 9).ok());
  EXPECT_TRUE(harness.compiling.empty());
  std::vector<SentToWorker> second;
  for (SentToWorker& item : harness.TakeSent()) {
    EXPECT_FALSE(item.message.has_load_program());
    if (item.message.has_start_run()) second.push_back(std::move(item));
  }
  ASSERT_EQ(second.size(), 2u);  // the first one is under way
  for (const SentToWorker& start : second) harness.FinishRun(start);
  EXPECT_EQ(harness.State("job-2"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  for (const SentToWorker& start : first) harness.FinishRun(start);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.Job("job-1").log[0].text(), "runs on w1, w2, as epoch 0 of its program");
  EXPECT_EQ(harness.Job("job-2").log[0].text(), "runs on w1, w2, as epoch 1 of its program");
}

}  // namespace
}  // namespace weir
