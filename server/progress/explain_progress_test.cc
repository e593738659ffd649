// Planted stalls: each is named exactly, with who is behind it and for how long.
#include "server/progress/explain_progress.h"

#include <string>
#include <vector>

#include "common/base/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/progress/progress_test_harness.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two workers; the stall of each test is all that is left in the end.
class PlantedStall : public ::testing::Test {
 protected:
  void CloseA() {
    ASSERT_TRUE(job_.Do(1, {{{job_.out(), {0}}, -1}}).ok());
    job_.Propagate();
  }
  // At some later moment.
  std::vector<std::string> Waits() {
    job_.now += absl::Seconds(10);
    std::vector<std::string> lines;
    for (const Wait& wait : WaitsOf(*job_.progress)) {
      lines.push_back(ToString(wait, *job_.progress, job_.now));
    }
    return lines;
  }
  std::string Explain(std::string_view vertex, int input) const {
    const JobProgress& job = *job_.progress;
    return *ExplainFrontier(job, vertex, input, *WaitsAt(job, vertex, input), job_.now);
  }
  std::string Dumped() const { return Dump(*job_.progress, WaitsOf(*job_.progress), job_.now); }
  LocationId request(VertexId vertex, int input) const {
    return job_.topology->request(vertex, input);
  }

  ProgressTestJob job_{2};
};

TEST_F(PlantedStall, AnOpenInput) {
  job_.now += absl::Seconds(3);
  ASSERT_TRUE(job_.Do(2, {{{job_.out(), {4}}, 1}, {{job_.out(), {0}}, -1}}).ok());
  CloseA();
  EXPECT_THAT(Waits(), ElementsAre("source 'images' is open at (4): worker 'b' has held 1 "
                                   "capability at output 0 for 10s; client 'feeder' feeds it"));
}

TEST_F(PlantedStall, ADeadClient) {
  CloseA();
  job_.now += absl::Seconds(2);
  job_.progress->OnClientLost("feeder", job_.now);
  EXPECT_THAT(Waits(), ElementsAre("source 'images' is open at (0): worker 'b' has held 1 "
                                   "capability at output 0 for 12s; client 'feeder' feeds it and "
                                   "was lost 10s ago"));
  // Another one takes its place, and then it comes back itself.
  for (const char* name : {"other", "feeder"}) {
    job_.progress->OnClientFeeds(job_.images, name);
    EXPECT_THAT(Waits(), ElementsAre(testing::EndsWith(StrCat("s; client '", name, "' feeds it"))));
  }
}

TEST_F(PlantedStall, ADeadWorker) {
  CloseA();
  job_.now += absl::Seconds(2);
  job_.progress->OnWorkerLost(2, absl::UnavailableError("silent for 3s"), job_.now, job_.now);
  EXPECT_THAT(Waits(), ElementsAre("source 'images' is open at (0): worker 'b', lost 10s ago, has "
                                   "held 1 capability at output 0 for 12s; client 'feeder' feeds "
                                   "it"));
  EXPECT_THAT(Dump(*job_.progress, WaitsOf(*job_.progress), job_.now),
              HasSubstr("worker 'b', lost 10s ago, holds 1 pointstamp that nobody can release: "
                        "job 7, worker 'b' is lost: silent for 3s"));
}

TEST_F(PlantedStall, ASlowKernel) {
  job_.now += absl::Seconds(1);
  ASSERT_TRUE(job_.Do(2, {{{job_.in(job_.load), {0}}, 2}, {{job_.out(), {0}}, -1}}).ok());
  CloseA();
  EXPECT_THAT(Waits(),
              ElementsAre("2 frames of (0) for input 0 of 'load' are under way or in a kernel: "
                          "with one of the workers 'a', 'b' for 10s"));
}

TEST_F(PlantedStall, AHeldCapability) {
  ASSERT_TRUE(job_.Do(2, {{{job_.in(job_.load), {0}}, 1}, {{job_.out(), {0}}, -1}}).ok());
  job_.now += absl::Seconds(5);
  ASSERT_TRUE(
      job_.Do(2, {{{job_.in(job_.load), {0}}, -1}, {{job_.topology->output(job_.load, 0), {2}}, 3}})
          .ok());
  CloseA();
  EXPECT_THAT(Waits(), ElementsAre("'load' may still send at (2): worker 'b' has held 3 "
                                   "capabilities at output 0 for 10s"));
}

// A notification that is due, a frame that waits for a credit, an access that waits for a variable:
// a worker reports each as a request.
TEST_F(PlantedStall, ANotificationACreditOrAVariable) {
  ASSERT_TRUE(job_.Do(2, {{{job_.in(job_.load), {0}}, 1}, {{job_.out(), {0}}, -1}}).ok());
  job_.now += absl::Seconds(5);
  ASSERT_TRUE(
      job_.Do(2, {{{job_.in(job_.load), {0}}, -1}, {{request(job_.load, 0), {0}}, 1}}).ok());
  CloseA();
  EXPECT_THAT(Waits(), ElementsAre("'load' waits to be served at (0): worker 'b' has held 1 "
                                   "request at input 0 for 10s"));
}

TEST_F(PlantedStall, OneBehindAnotherIsNamedOnlyWhereItIsAskedFor) {
  ASSERT_TRUE(job_.Do(2, {{{job_.in(job_.load), {0}}, 1}}).ok());
  ASSERT_TRUE(
      job_.Do(2, {{{job_.in(job_.load), {0}}, -1}, {{request(job_.load, 0), {0}}, 1}}).ok());
  CloseA();
  job_.now += absl::Seconds(1);
  EXPECT_EQ(
      *ExplainFrontier(*job_.progress, "join", 1, *WaitsAt(*job_.progress, "join", 1), job_.now),
      "the frontier of input 1 of 'join' is {(0)}, held back by\n"
      "  source 'images' is open at (0): worker 'b' has held 1 capability at output 0 for 1s; "
      "client 'feeder' feeds it\n"
      "  'load' waits to be served at (0): worker 'b' has held 1 request at input 0 for 1s\n");
  EXPECT_THAT(Waits(), ElementsAre(HasSubstr("source 'images' is open at (0)")));
}

// It holds nothing back at (2), but what comes at (4) is with it.
TEST_F(PlantedStall, AVariableThatWaitsForItsTurnIsNamedWithWhatItWaitsFor) {
  ASSERT_TRUE(
      job_.Do(2, {{{job_.in(job_.load), {4}}, 1}, {{job_.out(), {2}}, 1}, {{job_.out(), {0}}, -1}})
          .ok());
  ASSERT_TRUE(
      job_.Do(2, {{{job_.in(job_.load), {4}}, -1}, {{request(job_.load, 0), {4}}, 1}}).ok());
  CloseA();
  job_.now += absl::Seconds(1);
  const std::string turn =
      "meanwhile\n"
      "  'load' waits for its turn at (4), as (2) may still come to input 0: worker 'b' has held 1 "
      "request at input 0 for 1s\n";
  EXPECT_EQ(Explain("join", 1),
            "the frontier of input 1 of 'join' is {(2)}, held back by\n"
            "  source 'images' is open at (2): worker 'b' has held 1 capability at output 0 for "
            "1s; client 'feeder' feeds it\n" +
                turn);
  EXPECT_THAT(Dumped(), testing::EndsWith(turn));
  // What does not lead there is not named.
  EXPECT_THAT(Explain("load", 0), testing::Not(HasSubstr("meanwhile")));
  // Its turn comes.
  ASSERT_TRUE(job_.Do(2, {{{job_.out(), {5}}, 1}, {{job_.out(), {2}}, -1}}).ok());
  job_.Propagate();
  EXPECT_THAT(Explain("join", 1), HasSubstr("'load' waits to be served at (4)"));
  EXPECT_THAT(Dumped(), testing::Not(HasSubstr("meanwhile")));
}

TEST_F(PlantedStall, SharesOfWorkersAreToldApartOldestFirst) {
  job_.now += absl::Seconds(3);
  ASSERT_TRUE(job_.Do(2, {{{job_.out(), {0}}, -1}, {{job_.out(), {1}}, 1}}).ok());
  job_.now += absl::Seconds(3);
  ASSERT_TRUE(job_.Do(1, {{{job_.out(), {0}}, -1}, {{job_.out(), {1}}, 2}}).ok());
  job_.Propagate();
  EXPECT_THAT(Waits(),
              ElementsAre(HasSubstr("worker 'b' has held 1 capability at output 0 for 13s"),
                          HasSubstr("worker 'a' has held 2 capabilities at output 0 for "
                                    "10s")));
}

TEST(ExplainProgress, WhatWorkersTookUpTogetherIsOneLineButNotWithOneThatIsLost) {
  ProgressTestJob job(4);
  const auto advance = [&](uint64_t worker, absl::Duration after) {
    job.now += after;
    ASSERT_TRUE(job.Do(worker, {{{job.out(), {0}}, -1}, {{job.out(), {1}}, 1}}).ok());
  };
  advance(2, absl::ZeroDuration());
  advance(3, absl::Seconds(2));
  advance(4, absl::Milliseconds(500));
  advance(1, absl::Milliseconds(400));
  job.Propagate();
  job.now += absl::Milliseconds(2100);
  job.progress->OnWorkerLost(4, absl::UnavailableError("silent"), job.now, job.now);
  std::vector<std::string> lines;
  for (const Wait& wait : WaitsOf(*job.progress)) {
    lines.push_back(ToString(wait, *job.progress, job.now));
  }
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("worker 'b' has held 1 capability at output 0 for 5s"),
                          HasSubstr("workers 'a', 'c' have held 2 capabilities at output 0 "
                                    "for 3s"),
                          HasSubstr("worker 'd', lost 0 ago, has held 1 capability at output "
                                    "0 for 2.5s")));
}

TEST_F(PlantedStall, SharesOfAllWorkersAddUp) {
  EXPECT_THAT(Waits(), ElementsAre("source 'images' is open at (0): workers 'a', 'b' have held 2 "
                                   "capabilities at output 0 for 10s; client 'feeder' feeds it"));
}

TEST_F(PlantedStall, WhatElseIsKnownIsSaid) {
  ASSERT_TRUE(job_.Do(2, {{{job_.in(job_.load), {0}}, 1}}).ok());
  job_.Propagate();
  job_.now += absl::Seconds(2);
  std::vector<Wait> waits = *WaitsAt(*job_.progress, "join", 1);
  ASSERT_EQ(waits.size(), 2u);
  for (Wait& wait : waits) wait.detail = "who knows";
  EXPECT_THAT(ToString(waits[1], *job_.progress, job_.now),
              testing::EndsWith("with one of the workers 'a', 'b' for 2s; who knows"));
  waits[1].place = "near";
  EXPECT_EQ(ToString(waits[0], *job_.progress, job_.now),
            "source 'images' is open at (0): workers 'a', 'b' have held 2 capabilities at output 0 "
            "for 2s; client 'feeder' feeds it; who knows");
  EXPECT_EQ(ToString(waits[1], *job_.progress, job_.now),
            "1 frame of (0) for input 0 of 'load' has been there for 2s: near; who knows");
}

TEST_F(PlantedStall, ACancelThatAWorkerDoesNotAnswer) {
  job_.progress->Cancel(absl::CancelledError("by its owner"), job_.now);
  job_.progress->OnStopped(1, job_.now);
  job_.now += absl::Seconds(4);
  EXPECT_EQ(Dump(*job_.progress, WaitsOf(*job_.progress), job_.now),
            "job 7, generation 1, is being cancelled; it began 4s ago; 1 worker takes part\n"
            "what was wrong first: by its owner\n"
            "the cancel waits for worker 'b' to stop or to be given up\n");
}

TEST(ExplainProgress, AFinishedPortAndACompletedJobWaitForNothing) {
  ProgressTestJob job(1);
  ASSERT_TRUE(job.Do(1, {{{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(*ExplainFrontier(*job.progress, "join", 0, *WaitsAt(*job.progress, "join", 0), job.now),
            "input 0 of 'join' is finished: nothing can come any more\n");
  EXPECT_EQ(Dump(*job.progress, WaitsOf(*job.progress), job.now),
            "job 7, generation 1, is completed; it began 0 ago; 1 worker takes part\n");
}

TEST(ExplainProgress, WhatIsNotThereIsSaid) {
  ProgressTestJob job(1);
  EXPECT_EQ(WaitsAt(*job.progress, "joint", 0).status(),
            absl::NotFoundError("job 7 has no vertex 'joint'"));
  EXPECT_EQ(WaitsAt(*job.progress, "join", 2).status(),
            absl::NotFoundError("'join' has no input 2; it has 2"));
  job.progress->Cancel(absl::CancelledError("x"), job.now);
  job.progress->OnStopped(1, job.now);
  EXPECT_TRUE(absl::IsFailedPrecondition(WaitsAt(*job.progress, "join", 0).status()));
  EXPECT_TRUE(WaitsOf(*job.progress).empty());
  EXPECT_THAT(Dump(*job.progress, WaitsOf(*job.progress), job.now), HasSubstr("is cancelled"));
}

}  // namespace
}  // namespace weir
