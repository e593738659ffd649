#include "server/jobs/coordinator_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "server/jobs/core_test_harness.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A job of `rows` rows that runs on workers 1 and 2. Returns: the two starts.
std::vector<SentToWorker> StartOnTwo(CoreHarness& harness, int64_t rows, uint32_t repeat = 0) {
  harness.AddWorker(1, "w1");
  harness.AddWorker(2, "w2");
  EXPECT_TRUE(harness.Submit("p", rows, "", 0, repeat).ok());
  harness.CompileAll();
  harness.LoadAll();
  return harness.TakeStarts();
}

TEST(CoordinatorCoreTest, RunsAJobOnAllWorkersAndPutsTheRowsTogether) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 5);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  EXPECT_THAT(harness.Job("job-1").view.workers(), ElementsAre("w1", "w2"));
  EXPECT_EQ(starts[0].message.start_run().feeds(0).first_row(), 0);
  EXPECT_EQ(starts[0].payloads[0].extent(0), 2);
  EXPECT_EQ(starts[1].message.start_run().feeds(0).first_row(), 2);
  EXPECT_EQ(starts[1].payloads[0].extent(0), 3);
  EXPECT_EQ(starts[1].message.start_run().peers(0).name(), "w1");
  EXPECT_EQ(starts[1].message.start_run().symbols().at("n"), 5);

  harness.FinishRun(starts[1]);
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  harness.clock.Advance(absl::Milliseconds(3));
  harness.FinishRun(starts[0]);
  const JobEntry& job = harness.Job("job-1");
  ASSERT_EQ(job.view.state(), v1::Job::SUCCEEDED) << job.view.failure().message();
  ASSERT_EQ(job.results.size(), 3u);
  EXPECT_TRUE(job.results[0].BitEquals(CoreHarness::Rows(5, 0)));
  EXPECT_EQ(job.results[1].At<float>({}), 7);
  EXPECT_TRUE(job.results[2].BitEquals(CoreHarness::Rows(5, 0)));  // an input, answered here
  EXPECT_THAT(job.view.result_names(), ElementsAre("y", "z", "x"));
  EXPECT_EQ(job.view.report().first_run_ns(), 3'000'000);
  EXPECT_EQ(job.view.report().counters().kernel_launches(), 6);
  EXPECT_EQ(job.view.report().coordinator_tensor_bytes(), 0);
  EXPECT_EQ(job.view.report().compilations(), 1);
  EXPECT_TRUE(harness.core.idle());
}

TEST(CoordinatorCoreTest, NoRowsAndMoreWorkersThanRows) {
  CoreHarness harness;
  for (const SentToWorker& start : StartOnTwo(harness, 0)) harness.FinishRun(start);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.Job("job-1").results[0].extents(), (Extents{0, 2}));
  ASSERT_TRUE(harness.Submit("p", 1).ok());
  for (const SentToWorker& start : harness.TakeStarts()) harness.FinishRun(start);
  EXPECT_EQ(harness.State("job-2"), v1::Job::SUCCEEDED);
  EXPECT_TRUE(harness.Job("job-2").results[0].BitEquals(CoreHarness::Rows(1, 0)));
}

TEST(CoordinatorCoreTest, OneCompilationAndOneLoadServeEveryNumberOfRows) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  ASSERT_TRUE(harness.Submit("p", 5).ok());
  ASSERT_TRUE(harness.Submit("p", 9).ok());
  EXPECT_EQ(harness.compiling.size(), 1u);
  harness.CompileAll();
  std::vector<SentToWorker> loads;
  for (const SentToWorker& item : harness.sent) {
    if (item.message.has_load_program()) loads.push_back(item);
  }
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_THAT(loads[0].message.load_program().blobs(), ElementsAre("weights"));
  harness.LoadAll();
  EXPECT_EQ(harness.TakeStarts().size(), 2u);
  ASSERT_TRUE(harness.Submit("another", 5).ok());
  harness.CompileAll();
  // The worker has the constant already.
  EXPECT_EQ(harness.sent.back().message.load_program().blobs_size(), 0);
}

TEST(CoordinatorCoreTest, RepeatsRunsAndReportsTheMedianAndTheBest) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 4, 3);
  for (int64_t ms : {50, 1, 9, 4}) {
    ASSERT_EQ(starts.size(), 2u);
    harness.clock.Advance(absl::Milliseconds(ms));
    for (const SentToWorker& start : starts) harness.FinishRun(start);
    starts = harness.TakeStarts();
  }
  EXPECT_TRUE(starts.empty());
  EXPECT_EQ(harness.Job("job-1").view.report().first_run_ns(), 50'000'000);
  EXPECT_EQ(harness.Job("job-1").view.report().run_ns(), 4'000'000);
  EXPECT_EQ(harness.Job("job-1").view.report().best_run_ns(), 1'000'000);
}

// What the program has printed so far.
std::vector<std::string> PrintedBy(const JobEntry& job) {
  std::vector<std::string> texts;
  for (const v1::LogEntry& entry : job.log) {
    if (entry.is_printed()) texts.push_back(entry.text());
  }
  return texts;
}

TEST(CoordinatorCoreTest, LinesOfAllWorkersComeInTheOrderOfTheProgram) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 5, 1);
  PrintedLines first, second;
  first.Add({1, 0, 2}, "row 0");
  first.Add({3}, "the end");
  second.Add({1, 3, 2}, "row 3");
  second.NoteDropped(7);
  harness.FinishRun(starts[1], 3, second);
  EXPECT_THAT(PrintedBy(harness.Job("job-1")), ElementsAre());
  harness.FinishRun(starts[0], 3, first);
  EXPECT_THAT(PrintedBy(harness.Job("job-1")),
              ElementsAre("row 0", "row 3", "the end", "... and 7 more lines"));
  starts = harness.TakeStarts();
  harness.FinishRun(starts[0], 3, first);
  harness.FailRun(starts[1], absl::StatusCode::kFailedPrecondition, "too small");
  EXPECT_EQ(harness.State("job-1"), v1::Job::FAILED);
  EXPECT_EQ(PrintedBy(harness.Job("job-1")).size(), 6u) << "what a failed run has printed";
}

TEST(CoordinatorCoreTest, TheNewestLinesOfAJobAreKept) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 5, 4);
  for (int run = 0; run < 5; ++run) {
    PrintedLines lines;
    lines.Add({1}, std::string(900'000, static_cast<char>('a' + run)));
    harness.FinishRun(starts[0], 3, lines);
    harness.FinishRun(starts[1]);
    starts = harness.TakeStarts();
  }
  const std::vector<std::string> kept = PrintedBy(harness.Job("job-1"));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0][0], 'd');
  EXPECT_EQ(kept[1][0], 'e');
}

TEST(CoordinatorCoreTest, HandsProfileAndBudgetToWorkers) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  Submission submission;
  submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  submission.spec.mutable_program()->set_source("p");
  submission.spec.add_input_names("x");
  submission.spec.set_profile(true);
  submission.spec.set_memory_budget(4096);
  submission.inputs = {CoreHarness::Rows(5, 0)};
  Submission negative = submission;
  negative.spec.set_memory_budget(-1);
  EXPECT_EQ(Prepare(std::move(negative), Limits()).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(harness.core.Submit(*Prepare(std::move(submission), Limits())).ok());
  harness.CompileAll();
  harness.LoadAll();
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_TRUE(starts[0].message.start_run().profile());
  EXPECT_EQ(starts[0].message.start_run().memory_budget(), 4096);
}

TEST(CoordinatorCoreTest, WaitsForWorkersAndSaysSo) {
  CoreHarness harness;
  ASSERT_TRUE(harness.Submit("p", 4, "", 2).ok());
  EXPECT_EQ(harness.Job("job-1").view.waits_for(), "the compiler");
  harness.CompileAll();
  EXPECT_EQ(harness.Job("job-1").view.waits_for(), "a worker: none is ready");
  harness.AddWorker(1, "w1");
  EXPECT_EQ(harness.Job("job-1").view.waits_for(),
            "2 workers of one numerics class: 1 is ready (w1)");
  harness.AddWorker(2, "w2", "another class");
  EXPECT_EQ(harness.State("job-1"), v1::Job::QUEUED);
  harness.AddWorker(3, "w3");
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  EXPECT_THAT(harness.Job("job-1").view.workers(), ElementsAre("w1", "w3"));
  EXPECT_EQ(harness.Job("job-1").view.waits_for(), "");
}

TEST(CoordinatorCoreTest, ALostWorkerFailsItsJobsAndNothingElse) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.core.OnWorkerClosed(2, absl::UnavailableError("connection reset"));
  ASSERT_EQ(harness.State("job-1"), v1::Job::FAILED);
  const v1::Failure& failure = harness.Job("job-1").view.failure();
  EXPECT_EQ(failure.worker(), "w2");
  EXPECT_EQ(failure.message(), "worker w2 was lost: connection reset");
  EXPECT_EQ(failure.code(), static_cast<uint32_t>(absl::StatusCode::kAborted));
  ASSERT_EQ(harness.sent.size(), 1u);
  EXPECT_EQ(harness.sent[0].worker, 1u);
  EXPECT_EQ(harness.sent[0].message.cancel_run().run_id(), starts[0].message.start_run().run_id());
  harness.FailRun(starts[0], absl::StatusCode::kCancelled, "cancelled");  // its answer: ignored
  harness.TakeSent();
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 1u);
  harness.FinishRun(starts[0]);
  EXPECT_EQ(harness.State("job-2"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.State("job-1"), v1::Job::FAILED);
}

TEST(CoordinatorCoreTest, ALostWorkerFailsAJobEvenAfterItsOwnPart) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.FinishRun(starts[1]);
  harness.core.OnWorkerClosed(2, absl::UnavailableError("gone"));
  EXPECT_EQ(harness.State("job-1"), v1::Job::FAILED);
}

TEST(CoordinatorCoreTest, AWorkerLostBeforeTheRunBeginsCostsNothing) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  harness.AddWorker(2, "w2");
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  harness.CompileAll();
  harness.core.OnWorkerClosed(2, absl::UnavailableError("gone"));
  harness.LoadAll();
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 1u);
  harness.FinishRun(starts[0]);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
}

TEST(CoordinatorCoreTest, TheCauseIsNamedNotItsConsequence) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.FailRun(starts[0], absl::StatusCode::kAborted, "worker w2 is lost");
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  harness.core.OnWorkerClosed(2, absl::UnavailableError("gone"));
  EXPECT_EQ(harness.Job("job-1").view.failure().worker(), "w2");
}

TEST(CoordinatorCoreTest, AConsequenceWithoutACauseFailsTheJobSoon) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.FailRun(starts[0], absl::StatusCode::kAborted, "the connection to w2 broke");
  harness.FinishRun(starts[1]);
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  harness.clock.Advance(absl::Seconds(1));
  harness.core.OnTick();
  ASSERT_EQ(harness.State("job-1"), v1::Job::FAILED);
  EXPECT_EQ(harness.Job("job-1").view.failure().message(), "the connection to w2 broke");
}

TEST(CoordinatorCoreTest, AWorkersOwnFailureFailsTheJobAtOnce) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.FailRun(starts[1], absl::StatusCode::kResourceExhausted, "no memory");
  ASSERT_EQ(harness.State("job-1"), v1::Job::FAILED);
  EXPECT_EQ(harness.Job("job-1").view.failure().worker(), "w2");
  EXPECT_EQ(harness.core.workers().CountReady(), 2);
}

TEST(CoordinatorCoreTest, SilenceIsNoticedWithinThreeSeconds) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  harness.AddWorker(2, "w2");
  v1::WorkerMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_resident_bytes(10);
  int probes = 0;
  for (int i = 0; i < 29; ++i) {
    harness.clock.Advance(absl::Milliseconds(100));
    harness.core.OnTick();
    harness.core.OnWorkerMessage(2, heartbeat, {});
    for (const SentToWorker& item : harness.TakeSent()) {
      probes += item.worker == 1 && item.message.has_probe() ? 1 : 0;
    }
  }
  EXPECT_GE(probes, 6);
  EXPECT_EQ(harness.core.workers().CountReady(), 2);
  harness.clock.Advance(absl::Milliseconds(100));
  harness.core.OnTick();
  EXPECT_THAT(harness.closed, ElementsAre(1));
  EXPECT_EQ(harness.core.workers().CountReady(), 1);
  EXPECT_EQ(harness.core.workers().List(harness.clock.Now()).back().state(), v1::Worker::LOST);
}

TEST(CoordinatorCoreTest, ACoordinatorThatSleptBlamesNobody) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  harness.core.OnTick();
  harness.clock.Advance(absl::Seconds(60));
  harness.core.OnTick();
  EXPECT_EQ(harness.core.workers().CountReady(), 1);
}

TEST(CoordinatorCoreTest, ConnectionsThatDoNotRegisterAreClosed) {
  CoreHarness harness;
  harness.core.OnWorkerConnected(1);
  for (int i = 0; i < 100; ++i) {
    harness.clock.Advance(absl::Milliseconds(100));
    harness.core.OnTick();
  }
  EXPECT_THAT(harness.closed, ElementsAre(1));
  harness.core.OnWorkerConnected(2);
  v1::WorkerMessage message;
  message.mutable_heartbeat();
  harness.core.OnWorkerMessage(2, message, {});
  EXPECT_THAT(harness.closed, ElementsAre(1, 2));
}

TEST(CoordinatorCoreTest, TwoWorkersOfOneNameAreRefused) {
  CoreHarness harness;
  harness.AddWorker(1, "w");
  harness.TakeSent();
  harness.AddWorker(2, "w");
  EXPECT_THAT(harness.sent[0].message.refused().reason(), HasSubstr("named 'w'"));
  EXPECT_EQ(harness.core.workers().CountReady(), 1);
  harness.core.OnWorkerClosed(1, absl::UnavailableError("killed"));
  harness.AddWorker(3, "w");
  EXPECT_EQ(harness.core.workers().CountReady(), 1);
  EXPECT_EQ(harness.core.workers().List(harness.clock.Now()).size(), 1u);
}

TEST(CoordinatorCoreTest, ADrainingWorkerGetsNoNewRuns) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.DrainWorker(1);
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  EXPECT_THAT(harness.Job("job-2").view.workers(), ElementsAre("w2"));
  for (const SentToWorker& start : starts) harness.FinishRun(start);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
  harness.core.OnWorkerClosed(1, absl::OkStatus());
  EXPECT_EQ(harness.core.Stats().workers_lost, 0);
}

TEST(CoordinatorCoreTest, AStartThatCrossedTheFarewellRunsElsewhere) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.DrainWorker(1);
  harness.FailRun(starts[0], absl::StatusCode::kUnavailable, "worker w1 is draining");
  starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].worker, 2u);
  harness.FinishRun(starts[0]);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
}

TEST(CoordinatorCoreTest, AStartThatCrossedTheLastFarewellRunsElsewhere) {
  CoreHarness harness;
  StartOnTwo(harness, 4);
  harness.DrainWorker(1);
  harness.core.OnWorkerClosed(1, absl::OkStatus());
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].worker, 2u);
  harness.FinishRun(starts[0]);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
}

TEST(CoordinatorCoreTest, CountersStopAtTheLargestNumber) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  for (const SentToWorker& start : starts) harness.FinishRun(start, INT64_MAX);
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.Job("job-1").view.report().counters().kernel_launches(), INT64_MAX);
}

TEST(CoordinatorCoreTest, AWorkerThatClosesWithoutFarewellFailsItsRun) {
  CoreHarness harness;
  StartOnTwo(harness, 4);
  harness.core.OnWorkerClosed(1, absl::OkStatus());
  EXPECT_EQ(harness.State("job-1"), v1::Job::FAILED);
  EXPECT_EQ(harness.Job("job-1").view.failure().message(),
            "worker w1 was lost: it closed its connection");
}

TEST(CoordinatorCoreTest, CancelStopsTheRunAndNothingChangesAnEndedJob) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  EXPECT_EQ(harness.core.Cancel("job-1")->state(), v1::Job::CANCELLED);
  int cancelled = 0;
  for (const SentToWorker& item : harness.sent) cancelled += item.message.has_cancel_run() ? 1 : 0;
  EXPECT_EQ(cancelled, 2);
  for (const SentToWorker& start : starts) harness.FinishRun(start);
  harness.core.OnWorkerClosed(1, absl::UnavailableError("gone"));
  EXPECT_EQ(harness.State("job-1"), v1::Job::CANCELLED);
  EXPECT_EQ(harness.ended.size(), 1u);
  EXPECT_EQ(harness.core.Cancel("job-1")->state(), v1::Job::CANCELLED);
  EXPECT_EQ(harness.core.Cancel("nobody").status().code(), absl::StatusCode::kNotFound);
}

TEST(CoordinatorCoreTest, CancelBeforeTheCompilerIsDone) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  EXPECT_EQ(harness.core.Cancel("job-1")->state(), v1::Job::CANCELLED);
  harness.CompileAll();
  EXPECT_EQ(harness.State("job-1"), v1::Job::CANCELLED);
  EXPECT_TRUE(harness.core.idle());
}

TEST(CoordinatorCoreTest, JobsStartInOrderAndAFewAtATime) {
  Limits limits;
  limits.max_jobs_in_flight = 2;
  CoreHarness harness(limits);
  harness.AddWorker(1, "w1");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(harness.Submit("p", i).ok());
  harness.CompileAll();
  harness.LoadAll();
  const std::vector<SentToWorker> starts = harness.TakeStarts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_LT(starts[0].message.start_run().run_id(), starts[1].message.start_run().run_id());
  EXPECT_EQ(harness.State("job-3"), v1::Job::QUEUED);
  harness.FinishRun(starts[1]);
  EXPECT_EQ(harness.State("job-3"), v1::Job::RUNNING);
  EXPECT_EQ(harness.State("job-4"), v1::Job::QUEUED);
}

TEST(CoordinatorCoreTest, SubmissionIdsNameOneJob) {
  CoreHarness harness;
  const auto first = harness.Submit("p", 4, "mine");
  const auto again = harness.Submit("p", 4, "mine");
  EXPECT_TRUE(again->already_existed);
  EXPECT_EQ(again->job.id(), first->job.id());
  const auto other_rows = harness.Submit("p", 5, "mine");
  EXPECT_EQ(other_rows.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::string(other_rows.status().message()),
            "submission id 'mine' is that of job job-1, which differs in: inputs");
  EXPECT_THAT(std::string(harness.Submit("q", 4, "mine").status().message()),
              HasSubstr("differs in: program"));
  EXPECT_THAT(std::string(harness.Submit("p", 4, "mine", 3).status().message()),
              HasSubstr("differs in: workers, repeat, memory_budget or profile"));
  EXPECT_EQ(harness.core.Stats().jobs_accepted, 1);
}

TEST(CoordinatorCoreTest, AProgramThatDoesNotCompileFailsItsJobs) {
  CoreHarness harness;
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  ASSERT_TRUE(harness.Submit("p", 5).ok());
  harness.core.OnCompiled(harness.compiling[0], InvalidArgument("p:1:1: what is this?"));
  EXPECT_EQ(harness.Job("job-1").view.failure().message(), "p:1:1: what is this?");
  EXPECT_EQ(harness.State("job-2"), v1::Job::FAILED);
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  EXPECT_EQ(harness.compiling.size(), 2u);
}

TEST(CoordinatorCoreTest, AProgramThatAWorkerCannotLoadFailsTheJob) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  harness.CompileAll();
  v1::WorkerMessage message;
  message.mutable_program_loaded()->set_program_id(1);
  message.mutable_program_loaded()->mutable_failure()->set_code(13);
  message.mutable_program_loaded()->mutable_failure()->set_message("no kernel");
  harness.core.OnWorkerMessage(1, message, {});
  EXPECT_EQ(harness.Job("job-1").view.failure().worker(), "w1");
}

TEST(CoordinatorCoreTest, InputsThatDoNotFitFailTheJob) {
  CoreHarness harness;
  harness.AddWorker(1, "w1");
  Submission submission;
  submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  submission.spec.mutable_program()->set_source("p");
  submission.spec.add_input_names("y");
  submission.inputs = {CoreHarness::Rows(1, 0)};
  ASSERT_TRUE(harness.core.Submit(*Prepare(std::move(submission), Limits())).ok());
  harness.CompileAll();
  EXPECT_EQ(harness.Job("job-1").view.failure().message(),
            "the program has no input 'y'; its input is 'x' f32[n,2]");
  EXPECT_EQ(harness.Job("job-1").view.workers_size(), 0);
}

TEST(CoordinatorCoreTest, RowsThatDoNotBelongFailTheJob) {
  CoreHarness harness;
  std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  starts[1].message.mutable_start_run()->mutable_feeds(0)->set_first_row(1);
  harness.FinishRun(starts[1]);
  EXPECT_EQ(harness.Job("job-1").view.failure().message(),
            "result y came as f32[2,2] from row 1 instead of [2,2] from row 2");
  EXPECT_EQ(harness.Job("job-1").view.failure().worker(), "w2");
}

TEST(CoordinatorCoreTest, OldJobsAndTheirResultsAreForgotten) {
  Limits limits;
  limits.max_kept_jobs = 2;
  limits.max_kept_result_bytes = 100;
  CoreHarness harness(limits);
  harness.AddWorker(1, "w1");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(harness.Submit("p", 5).ok());
    harness.CompileAll();
    harness.LoadAll();
    for (const SentToWorker& start : harness.TakeStarts()) harness.FinishRun(start);
  }
  EXPECT_FALSE(harness.core.Find("job-1").ok());
  EXPECT_FALSE(harness.Job("job-3").results_kept);
  EXPECT_TRUE(harness.Job("job-4").results_kept);
  harness.core.ReleaseResults("job-4");
  EXPECT_TRUE(harness.Job("job-4").results.empty());
}

TEST(CoordinatorCoreTest, ListsNewestFirstInPages) {
  CoreHarness harness;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(harness.Submit("p", 5).ok());
  v1::ListRequest request;
  request.set_page_size(2);
  std::vector<std::string> ids;
  int pages = 0;
  do {
    const auto page = harness.core.List(request);
    for (const v1::Job& job : page->jobs()) ids.push_back(job.id());
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_THAT(ids, ElementsAre("job-5", "job-4", "job-3", "job-2", "job-1"));
  EXPECT_EQ(pages, 3);
  request.set_page_token("x");
  EXPECT_EQ(harness.core.List(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CoordinatorCoreTest, ARestartFailsWhatHadNotEnded) {
  CoreHarness harness;
  v1::Job job;
  job.set_id("old");
  job.set_submission_id("mine");
  job.set_state(v1::Job::RUNNING);
  harness.core.Restore(job, SpecDigest());
  job.set_id("older");
  job.set_submission_id("");
  job.set_state(v1::Job::SUCCEEDED);
  harness.core.Restore(job, SpecDigest());
  EXPECT_EQ(harness.Job("old").view.failure().message(), "the coordinator restarted");
  EXPECT_EQ(harness.State("old"), v1::Job::FAILED);
  EXPECT_EQ(harness.State("older"), v1::Job::SUCCEEDED);
  EXPECT_EQ(harness.Submit("p", 1, "mine").status().code(), absl::StatusCode::kAlreadyExists);
}

TEST(CoordinatorCoreTest, DrainingRefusesJobsAndFinishesWhatRuns) {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = StartOnTwo(harness, 4);
  harness.core.Drain();
  EXPECT_EQ(harness.Submit("p", 4).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(harness.core.idle());
  for (const SentToWorker& start : starts) harness.FinishRun(start);
  EXPECT_TRUE(harness.core.idle());
  EXPECT_EQ(harness.State("job-1"), v1::Job::SUCCEEDED);
}

TEST(CoordinatorCoreTest, FullQueueAndUnknownProgramAreRefused) {
  Limits limits;
  limits.max_queued_jobs = 1;
  CoreHarness harness(limits);
  ASSERT_TRUE(harness.Submit("p", 4).ok());
  EXPECT_EQ(harness.Submit("p", 4).status().code(), absl::StatusCode::kResourceExhausted);
  CoreHarness other;
  Submission submission;
  submission.spec.set_program_id("0123");
  EXPECT_EQ(other.core.Submit(*Prepare(submission, Limits())).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace weir
