#include "server/progress/job_progress.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/progress/progress_test_harness.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Part = JobProgress::Part;
using State = JobProgress::State;

Part PartOf(const ProgressTestJob& job, uint64_t worker) {
  return job.progress->workers().at(worker).part;
}

TEST(JobProgress, EveryWorkerIsGrantedEverySourceAndLearnsTheFirstFrontier) {
  ProgressTestJob job(2);
  for (const auto& [id, worker] : job.workers) {
    EXPECT_THAT(worker->held(), ElementsAre(Change{{job.out(), {0}}, 1}));
    EXPECT_EQ(worker->view().frontier(job.in(job.sink)), Frontier({{0}}));
  }
  EXPECT_EQ(job.progress->state(), State::kRunning);
}

TEST(JobProgress, AnEpochIsCompleteOnceAllWorkersHaveClosedIt) {
  ProgressTestJob job(2);
  EXPECT_TRUE(job.Do(1, {{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_FALSE(job.workers[2]->view().IsComplete(job.in(job.sink), {0}));
  EXPECT_TRUE(job.Do(2, {{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}}).ok());
  EXPECT_EQ(job.progress->counters().updates, 1);  // nothing is told for nothing
  job.Propagate();
  EXPECT_EQ(job.progress->counters().updates, 2);
  EXPECT_TRUE(job.workers[2]->view().IsComplete(job.in(job.sink), {0}));
  EXPECT_FALSE(job.workers[2]->view().IsComplete(job.in(job.sink), {1}));
}

TEST(JobProgress, AJobWithNothingOutstandingIsCompletedAndEverybodyLearnsIt) {
  ProgressTestJob job(1);
  EXPECT_TRUE(job.Do(1, {{{job.in(job.load), {0}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.progress->state(), State::kRunning);
  EXPECT_TRUE(job.Do(1, {{{job.in(job.load), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.progress->state(), State::kCompleted);
  EXPECT_TRUE(job.progress->status().ok());
  EXPECT_TRUE(job.workers[1]->view().frontier(job.in(job.sink)).empty());
  EXPECT_THAT(std::string(job.progress->Join(2, "b", job.now).status().message()),
              HasSubstr("job 7 is completed"));
}

TEST(JobProgress, AWorkerThatJoinsLaterMovesNothingAndBeginsWhereTheOthersAre) {
  ProgressTestJob job(1);
  EXPECT_TRUE(job.Do(1, {{{job.out(), {5}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  job.Join(2);
  EXPECT_FALSE(job.progress->Propagate(job.now).has_value());
  EXPECT_EQ(job.workers[2]->view().frontier(job.in(job.sink)), Frontier({{5}}));
  EXPECT_THAT(job.workers[2]->held(), ElementsAre(Change{{job.out(), {5}}, 1}));
  EXPECT_TRUE(job.Do(1, {{{job.out(), {5}}, -1}}).ok());
  EXPECT_TRUE(job.Do(2, {{{job.out(), {6}}, 1}, {{job.out(), {5}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{6}}));
  EXPECT_EQ(job.workers[2]->view().frontier(job.in(job.sink)), Frontier({{6}}));
}

TEST(JobProgress, AJobThatGoesOnFromACheckpointBeginsBehindIt) {
  ProgressTestJob job(1, /*generation=*/3, /*first_epoch=*/12);
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{12}}));
  EXPECT_TRUE(job.Do(1, {{{job.out(), {13}}, 1}, {{job.out(), {12}}, -1}}).ok());
}

TEST(JobProgress, StartNeedsAWorkerAndComesOnce) {
  ProgressTestJob job(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(job.progress->Start(job.now).status()));
  JobProgress empty({.job = 1}, job.topology, job.now);
  EXPECT_THAT(std::string(empty.Start(job.now).status().message()),
              HasSubstr("no worker has joined job 1"));
  EXPECT_TRUE(absl::IsAlreadyExists(job.progress->Join(1, "a", job.now).status()));
}

// One bad batch each: worker 'b' sends it, and what 'a' does goes on.
struct BadBatch {
  const char* name;
  // Of worker 'b', which has one batch accepted before.
  v1::ProgressBatch (*make)(const ProgressTestJob& job, const ProgressTestWorker& worker);
  std::vector<std::string> says;
};

class RefusedBatch : public ::testing::TestWithParam<BadBatch> {};

TEST_P(RefusedBatch, EndsThePartOfItsWorkerAndSaysWhy) {
  ProgressTestJob job(2);
  ASSERT_TRUE(job.Do(2, {{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}}).ok());
  const v1::ProgressBatch batch = GetParam().make(job, *job.workers[2]);
  const absl::Status status = job.progress->OnBatch(2, batch, job.now);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker 'b'"));
  for (const std::string& words : GetParam().says) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
  EXPECT_EQ(PartOf(job, 2), Part::kEnded);
  EXPECT_EQ(job.progress->status(), status);
  EXPECT_EQ(job.progress->counters().refused, 1);
  EXPECT_EQ(job.progress->counters().batches, 1);
  // Nothing of it was counted, and nothing that 'b' holds moves any more.
  EXPECT_THAT(job.progress->working(), ElementsAre(1));
  EXPECT_TRUE(job.Do(1, {{{job.out(), {9}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{1}}));
  // And nothing that it says is heard.
  const absl::Status late =
      job.progress->OnBatch(2, job.workers[2]->Claim(2, {{{job.out(), {1}}, -1}}), job.now);
  EXPECT_THAT(std::string(late.message()), HasSubstr("part in the job is over"));
  job.Propagate();
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{1}}));
}

v1::ProgressBatch WithNumbers(const ProgressTestWorker& worker, std::vector<uint64_t> numbers) {
  v1::ProgressBatch batch = worker.Claim(2, {});
  for (const uint64_t number : numbers) batch.add_changes(number);
  return batch;
}

INSTANTIATE_TEST_SUITE_P(
    JobProgress, RefusedBatch,
    ::testing::Values(
        BadBatch{"gap",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   return worker.Claim(3, {{{job.out(), {1}}, -1}});
                 },
                 {"progress batch 3 came while 2 is due"}},
        BadBatch{"repeat",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   return worker.Claim(1, {{{job.out(), {0}}, -1}, {{job.out(), {1}}, 1}});
                 },
                 {"progress batch 1 came again; 2 is due"}},
        BadBatch{"unjustified",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   return worker.Claim(2, {{{job.in(job.join, 1), {0}}, 1}});
                 },
                 {"progress batch 2", "+1 (0) at input 1 of 'join'", "could result in it"}},
        BadBatch{"not held",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   return worker.Claim(2, {{{job.out(), {1}}, -2}});
                 },
                 {"progress batch 2", "-2 (1) at output 0 of 'images' is released, and 1 held"}},
        BadBatch{"unknown location",
                 [](const ProgressTestJob&, const ProgressTestWorker& worker) {
                   return WithNumbers(worker, {400, 0, 2});
                 },
                 {"progress batch 2", "change 1", "no location 0 + 400; the job has"}},
        BadBatch{"negative time",
                 [](const ProgressTestJob&, const ProgressTestWorker& worker) {
                   return WithNumbers(worker, {1, 1, 2});
                 },
                 {"progress batch 2", "input 0 of 'load'", "negative"}},
        BadBatch{"cut",
                 [](const ProgressTestJob&, const ProgressTestWorker& worker) {
                   return WithNumbers(worker, {1, 2});
                 },
                 {"progress batch 2", "change 1", "end in the middle of input 0 of 'load'"}},
        BadBatch{
            "delta",
            [](const ProgressTestJob&, const ProgressTestWorker& worker) {
              return WithNumbers(worker, {0, 2, ~uint64_t{0} - 1});
            },
            {"progress batch 2", "a count changes by 9223372036854775807", "output 0 of 'images'"}},
        BadBatch{"unsorted",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   return worker.Claim(2, {{{job.out(), {2}}, 1}, {{job.out(), {1}}, -1}});
                 },
                 {"not sorted", "(2) at output 0 of 'images'"}},
        BadBatch{"other job",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   v1::ProgressBatch batch = worker.Claim(2, {{{job.out(), {1}}, -1}});
                   batch.set_job(8);
                   return batch;
                 },
                 {"progress batch 2 is of job 8"}},
        BadBatch{"generation to come",
                 [](const ProgressTestJob& job, const ProgressTestWorker& worker) {
                   v1::ProgressBatch batch = worker.Claim(2, {{{job.out(), {1}}, -1}});
                   batch.set_generation(2);
                   return batch;
                 },
                 {"progress batch 2 is of generation 2; the job is in 1"}}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(JobProgress, TooManyChangesAreRefusedBeforeTheyTakeMemory) {
  ProgressTestJob job(1);
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 65'537; ++i) numbers.insert(numbers.end(), {i == 0 ? 1u : 0u, 2, 2});
  const absl::Status status =
      job.progress->OnBatch(1, WithNumbers(*job.workers[1], numbers), job.now);
  EXPECT_THAT(std::string(status.message()), HasSubstr("65537 changes or more in one message"));
}

TEST(JobProgress, BatchesThatOvertakeOneAnotherAreNoticed) {
  ProgressTestJob job(1);
  job.workers[1]->Report({{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}});
  const v1::ProgressBatch first = job.workers[1]->Flush();
  job.workers[1]->Report({{{job.out(), {2}}, 1}, {{job.out(), {1}}, -1}});
  const v1::ProgressBatch second = job.workers[1]->Flush();
  EXPECT_FALSE(job.progress->OnBatch(1, second, job.now).ok());
  EXPECT_FALSE(job.progress->OnBatch(1, first, job.now).ok());
  job.Propagate();
  EXPECT_EQ(job.progress->tracker().frontier(job.in(job.sink)), Frontier({{0}}));
}

TEST(JobProgress, ABatchOfAnOldGenerationIsRefusedAndTheJobGoesOn) {
  ProgressTestJob old(1, /*generation=*/1);
  ProgressTestJob job(1, /*generation=*/2);
  old.workers[1]->Report({{{job.out(), {0}}, -1}});
  const absl::Status status = job.progress->OnBatch(1, old.workers[1]->Flush(), job.now);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("worker 'a': progress batch 1 is of generation 1; the job is in 2"));
  EXPECT_EQ(PartOf(job, 1), Part::kWorking);
  job.Propagate();
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{0}}));
  EXPECT_TRUE(job.Do(1, {{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}}).ok());
}

TEST(JobProgress, NobodyElseHasASay) {
  ProgressTestJob job(1);
  EXPECT_TRUE(absl::IsNotFound(
      job.progress->OnBatch(9, job.workers[1]->Claim(1, {{{job.out(), {0}}, -1}}), job.now)));
  EXPECT_TRUE(job.progress->status().ok());
}

TEST(JobProgress, NothingMovesForALostWorker) {
  ProgressTestJob job(2);
  job.progress->OnWorkerLost(2, absl::UnavailableError("connection closed"),
                             job.now + absl::Seconds(2), job.now);
  EXPECT_EQ(PartOf(job, 2), Part::kLost);
  EXPECT_EQ(job.progress->state(), State::kRunning);
  EXPECT_THAT(std::string(job.progress->status().message()),
              AllOf(HasSubstr("worker 'b' is lost"), HasSubstr("connection closed")));
  EXPECT_TRUE(job.Do(1, {{{job.out(), {4}}, 1}, {{job.out(), {0}}, -1}}).ok());
  EXPECT_FALSE(job.Do(2, {{{job.out(), {4}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.workers[1]->view().frontier(job.in(job.sink)), Frontier({{0}}));
  EXPECT_THAT(job.progress->workers().at(2).receiver.held(),
              ElementsAre(Change{{job.out(), {0}}, 1}));
}

TEST(JobProgress, AFrameThatIsConsumedTwiceFailsTheJobAndNothingIsToldAnyMore) {
  ProgressTestJob job(2);
  EXPECT_TRUE(job.Do(1, {{{job.in(job.load), {0}}, 1}}).ok());
  EXPECT_TRUE(job.Do(1, {{{job.in(job.load), {0}}, -1}, {{job.out(), {0}}, -1}}).ok());
  EXPECT_TRUE(job.Do(2, {{{job.in(job.load), {0}}, -1}, {{job.out(), {0}}, -1}}).ok());
  EXPECT_FALSE(job.progress->Propagate(job.now).has_value());
  EXPECT_EQ(job.progress->state(), State::kFailed);
  EXPECT_THAT(std::string(job.progress->status().message()),
              AllOf(HasSubstr("job 7"), HasSubstr("input 0 of 'load' at (0) is -1")));
  EXPECT_FALSE(job.progress->Propagate(job.now).has_value());
}

TEST(JobProgress, ACancelledJobIsDroppedOnceEveryWorkerHasStopped) {
  ProgressTestJob job(3);
  EXPECT_TRUE(job.Do(1, {{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}}).ok());
  job.progress->Cancel(absl::CancelledError("by its owner"), job.now);
  EXPECT_EQ(job.progress->state(), State::kCancelling);
  EXPECT_THAT(job.progress->not_stopped(job.now), ElementsAre(1, 2, 3));
  // Nothing is taken and nothing comes out, whatever was taken before.
  EXPECT_TRUE(absl::IsFailedPrecondition(job.Do(2, {{{job.out(), {0}}, -1}})));
  EXPECT_FALSE(job.progress->Propagate(job.now).has_value());
  job.progress->OnStopped(1, job.now);
  job.progress->OnStopped(1, job.now);
  EXPECT_THAT(job.progress->not_stopped(job.now), ElementsAre(2, 3));
  // A closed connection is no sign that the worker has stopped; its lease is.
  job.progress->OnWorkerLost(2, absl::UnavailableError("closed"), job.now + absl::Seconds(2),
                             job.now);
  job.progress->OnStopped(3, job.now);
  EXPECT_EQ(job.progress->state(), State::kCancelling);
  job.now += absl::Milliseconds(1999);
  job.progress->OnTick(job.now);
  EXPECT_EQ(job.progress->state(), State::kCancelling);
  job.now += absl::Milliseconds(1);
  job.progress->OnTick(job.now);
  EXPECT_EQ(job.progress->state(), State::kCancelled);
  EXPECT_TRUE(job.progress->workers().empty());
  EXPECT_EQ(job.progress->status(), absl::CancelledError("by its owner"));
  // The late ones find nothing, and figures are still there.
  const absl::Status late = job.Do(1, {{{job.out(), {1}}, -1}});
  EXPECT_THAT(std::string(late.message()), HasSubstr("job 7 is cancelled"));
  EXPECT_FALSE(job.progress->Propagate(job.now).has_value());
  EXPECT_EQ(job.progress->counters().batches, 1);
  EXPECT_GT(job.progress->counters().pops, 0);
}

TEST(JobProgress, AWorkerWhosePartHasEndedMustStopTooAndAFailedJobKeepsItsReason) {
  ProgressTestJob job(1);
  EXPECT_FALSE(job.progress->OnBatch(1, job.workers[1]->Claim(5, {}), job.now).ok());
  job.progress->Cancel(absl::CancelledError("as it failed"), job.now);
  EXPECT_THAT(job.progress->not_stopped(job.now), ElementsAre(1));
  job.progress->OnStopped(1, job.now);
  EXPECT_EQ(job.progress->state(), State::kCancelled);
  EXPECT_THAT(std::string(job.progress->status().message()), HasSubstr("batch 5 came while 1"));
}

// Two frames, of which one was consumed twice: counts are as if both were, and the job is completed
// until the second one is heard of.
TEST(JobProgress, ABatchAfterCompletionFailsTheJobAsItCannotHaveBeen) {
  ProgressTestJob job(2);
  EXPECT_TRUE(job.Do(2, {{{job.in(job.load), {0}}, 2}, {{job.out(), {0}}, -1}}).ok());
  EXPECT_TRUE(job.Do(1, {{{job.in(job.load), {0}}, -2}, {{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  EXPECT_EQ(job.progress->state(), State::kCompleted);
  const absl::Status status = job.Do(2, {{{job.in(job.load), {0}}, -1}});
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("worker 'b': progress batch 2 comes although nothing was outstanding"));
  EXPECT_EQ(job.progress->state(), State::kFailed);
  EXPECT_EQ(job.progress->status(), status);
}

TEST(JobProgress, ACompletedJobStaysCompleted) {
  ProgressTestJob job(1);
  EXPECT_TRUE(job.Do(1, {{{job.out(), {0}}, -1}}).ok());
  job.Propagate();
  job.progress->Cancel(absl::CancelledError("late"), job.now);
  EXPECT_EQ(job.progress->state(), State::kCompleted);
  job.progress->OnWorkerLost(1, absl::UnavailableError("closed"), job.now, job.now);
  EXPECT_TRUE(job.progress->status().ok());
}

// What a worker and the coordinator say of one epoch in which `frames` frames of records go from
// the source through 'load', and how many bytes of it come in.
ProgressCounters OneEpoch(int workers, int frames) {
  ProgressTestJob job(workers);
  const ProgressCounters before = job.progress->counters();
  for (auto& [id, worker] : job.workers) {
    for (int i = 0; i < frames; ++i) {
      worker->Report({{{job.in(job.load), {0}}, 1}});
      worker->Report({{{job.in(job.load), {0}}, -1},
                      {{job.in(job.map), {0}}, 1},
                      {{job.in(job.join, 0), {0}}, 1}});
      worker->Report({{{job.in(job.map), {0}}, -1}, {{job.in(job.join, 1), {0}}, 1}});
    }
    worker->Report({{{job.in(job.join, 0), {0}}, -frames},
                    {{job.in(job.join, 1), {0}}, -frames},
                    {{job.in(job.sink), {0}}, 1}});
    worker->Report({{{job.out(), {1}}, 1}, {{job.out(), {0}}, -1}});
    EXPECT_TRUE(job.progress->OnBatch(id, worker->Flush(), job.now).ok());
  }
  job.Propagate();
  ProgressCounters counters = job.progress->counters();
  counters.bytes_in -= before.bytes_in;
  counters.bytes_out -= before.bytes_out;
  counters.updates -= before.updates;
  return counters;
}

TEST(JobProgress, BytesOfAnEpochAreThoseOfItsWorkersAndNotOfItsRecords) {
  const ProgressCounters one = OneEpoch(1, 1);
  EXPECT_EQ(one.changes, 3);
  EXPECT_LE(one.bytes_in, 20);
  EXPECT_LE(one.bytes_out, 40);
  for (const int frames : {10, 1'000}) {
    EXPECT_EQ(OneEpoch(1, frames).bytes_in, one.bytes_in);
    EXPECT_EQ(OneEpoch(1, frames).bytes_out, one.bytes_out);
  }
  for (const int workers : {2, 5, 20}) {
    EXPECT_EQ(OneEpoch(workers, 100).bytes_in, workers * one.bytes_in);
    EXPECT_EQ(OneEpoch(workers, 100).bytes_out, workers * one.bytes_out);
    EXPECT_EQ(OneEpoch(workers, 100).updates, 1);
  }
}

}  // namespace
}  // namespace weir
