#include "server/flows/flow_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/base/status.h"
#include "server/flows/flow_test_harness.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kRecord = 16;  // bytes of a record of kCopy: a value and its origin

TEST(FlowCoreTest, RecordsGoToWorkersInTurnAndComeOutByEpoch) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
  EXPECT_TRUE(harness.Job(job).view.is_flow());
  EXPECT_THAT(harness.Job(job).view.workers(), ElementsAre("a", "b"));
  EXPECT_EQ(harness.workers[2]->deploy.rank(), 1u);
  EXPECT_EQ(harness.workers[2]->deploy.peers(0).name(), "a");
  EXPECT_EQ(harness.workers[1]->deploy.programs().size(), 1u);

  const uint64_t client = *harness.Attach(job, "c", 0, 0);
  EXPECT_THAT(harness.Heard(client), ElementsAre("attached"));
  ASSERT_EQ(harness.Send(client, 1, 0, {7, 8}), absl::OkStatus());
  ASSERT_EQ(harness.Send(client, 2, 0, {9}), absl::OkStatus());
  ASSERT_EQ(harness.Send(client, 3, 1, {5}), absl::OkStatus());
  harness.Settle();
  EXPECT_THAT(harness.workers[1]->waiting, SizeIs(1));
  EXPECT_THAT(harness.workers[2]->waiting, SizeIs(2));
  EXPECT_THAT(harness.Heard(client), ElementsAre("in: taken 3, epoch 0, bytes 0/64"));

  // Origins go on within an epoch, whichever worker has the records.
  harness.RunOne(2);
  EXPECT_THAT(harness.Heard(client),
              ElementsAre("in: taken 3, epoch 0, bytes 16/64", "records 1 of epoch 0: 9@2"));
  ASSERT_EQ(harness.Advance(client, 4, 1), absl::OkStatus());
  harness.Settle();
  EXPECT_THAT(harness.Heard(client), ElementsAre("in: taken 4, epoch 1, bytes 16/64"));
  harness.RunOne(1);
  EXPECT_THAT(harness.Heard(client),
              ElementsAre("in: taken 4, epoch 1, bytes 48/64", "records 2 of epoch 0: 7@0 8@1",
                          "complete 3: before 1"));
  ASSERT_EQ(harness.Advance(client, 5, 0, true), absl::OkStatus());
  harness.Settle();
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
  harness.RunAll();
  EXPECT_THAT(harness.Heard(client),
              ElementsAre("in: taken 5, epoch 1, bytes 64/64", "records 4 of epoch 1: 5@0",
                          "complete 5: all", "ended SUCCEEDED"));
  EXPECT_EQ(harness.State(job), v1::Job::SUCCEEDED);
  EXPECT_TRUE(harness.workers[1]->stopped && harness.workers[2]->stopped);
  EXPECT_TRUE(harness.core.idle());
  EXPECT_EQ(harness.ended.size(), 1u);
}

TEST(FlowCoreTest, WorkersThatDoNotSeeTheSameFilesFailTheFlow) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(3);
  const auto find = [&](uint64_t worker, uint32_t vertex, const std::string& digest) {
    v1::WorkerMessage message;
    v1::FlowFound* found = message.mutable_flow_found();
    found->set_job(harness.workers[worker]->deploy.job());
    found->set_generation(harness.workers[worker]->deploy.generation());
    found->set_vertex(vertex);
    found->set_digest(digest);
    found->set_what(StrCat("files ", digest));
    harness.core.OnWorkerMessage(worker, message, {});
  };
  find(1, 0, "x");
  find(2, 0, "x");
  find(2, 1, "y");
  find(2, 77, "there is no such vertex");
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
  find(3, 0, "z");
  harness.Settle();
  for (uint64_t worker = 1; worker <= 3; ++worker) harness.Stop(worker);
  EXPECT_EQ(harness.State(job), v1::Job::FAILED);
  EXPECT_THAT(harness.Job(job).view.failure().message(),
              AllOf(HasSubstr("'in' (input)"), HasSubstr("a has files x; c has files z")));
}

TEST(FlowCoreTest, EveryFunctionIsCompiledOnceForAllFlows) {
  FlowHarness harness;
  ASSERT_TRUE(harness.Deploy().ok());
  ASSERT_TRUE(harness.Deploy().ok());
  EXPECT_THAT(harness.compiling, SizeIs(1));
  EXPECT_EQ(harness.Job("job-1").view.waits_for(), "the compiler");
  harness.CompileAll();
  EXPECT_EQ(harness.Job("job-1").view.waits_for(), "a worker: none is ready");
  harness.AddWorker(1, "a");
  harness.LoadAll();
  harness.Settle();
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  EXPECT_EQ(harness.State("job-2"), v1::Job::RUNNING);
}

TEST(FlowCoreTest, AFunctionThatDoesNotCompileFailsTheFlow) {
  FlowHarness harness;
  ASSERT_TRUE(harness.Deploy().ok());
  harness.core.OnCompiled(harness.compiling.front(), absl::InvalidArgumentError("no rule"));
  EXPECT_EQ(harness.State("job-1"), v1::Job::FAILED);
  EXPECT_EQ(harness.Job("job-1").view.failure().message(), "function @same: no rule");
  EXPECT_TRUE(harness.core.idle());
}

TEST(FlowCoreTest, ASubmissionIdNamesOneFlow) {
  FlowHarness harness;
  ASSERT_TRUE(harness.Deploy(kCopy, "s").ok());
  auto again = harness.Deploy(kCopy, "s");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->already_existed);
  EXPECT_EQ(again->job.id(), "job-1");
  const auto other = harness.Deploy(kCopy, "s", 7);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
}

// A client whose message was refused is attached no more; it attaches again.
TEST(FlowCoreTest, WhatIsNotTakenIsRefusedAndNamed) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(1);
  uint64_t client = *harness.Attach(job, "c", 0, 0);
  const auto again = [&] {
    EXPECT_THAT(harness.Heard(client), SizeIs(1));  // why it is over
    client = *harness.Attach(job, "c", 0, 0);
    harness.Heard(client);
  };
  EXPECT_EQ(harness.Send(client, 1, 0, {1}).code(), absl::StatusCode::kFailedPrecondition);
  harness.Heard(client);
  EXPECT_THAT(harness.Send(client, 2, 0, {1}).message(), HasSubstr("number 1 is due"));
  again();
  ASSERT_EQ(harness.Advance(client, 1, 3), absl::OkStatus());
  harness.Heard(client);
  EXPECT_THAT(harness.Send(client, 2, 2, {1}).message(), HasSubstr("epoch 2 is over"));
  again();
  EXPECT_THAT(harness.Advance(client, 2, 1).message(), HasSubstr("cannot go back to 1"));
  again();
  ToFlow wrong;
  wrong.message.mutable_records()->set_port("in");
  wrong.message.mutable_records()->set_number(2);
  wrong.message.mutable_records()->set_epoch(3);
  wrong.tensors = {Tensor::Of<float>({1}, {1})};
  EXPECT_THAT(harness.core.flows().Take(client, wrong).message(),
              AllOf(HasSubstr("input 'in'"), HasSubstr("f32[1]")));
  again();
  wrong.tensors = {Tensor::Scalar<int64_t>(1)};
  EXPECT_THAT(harness.core.flows().Take(client, wrong).message(), HasSubstr("axis of records"));
  again();
  wrong.tensors = {};
  EXPECT_THAT(harness.core.flows().Take(client, wrong).message(), HasSubstr("0 tensors instead"));
  again();
  wrong.message.mutable_records()->set_port("nowhere");
  EXPECT_THAT(harness.core.flows().Take(client, wrong).message(), HasSubstr("'nowhere'"));
  again();
  EXPECT_THAT(harness.Acknowledge(client, 9).message(), HasSubstr("were sent"));
  again();
  ASSERT_EQ(harness.Advance(client, 2, 0, true), absl::OkStatus());
  harness.Heard(client);
  EXPECT_THAT(harness.Send(client, 3, 3, {1}).message(), HasSubstr("'in' is closed"));
  v1::FlowAttach request;
  request.set_id(job);
  request.set_client("d");
  request.add_inputs()->set_name("inn");
  EXPECT_THAT(harness.core.flows().Attach(request, [] {}).status().message(),
              HasSubstr("no input 'inn'; it has in"));
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
}

TEST(FlowCoreTest, CreditComesBackAsWorkersConsume) {
  Limits limits;
  limits.flow_input_bytes = 3 * kRecord;
  FlowHarness harness(limits);
  const std::string job = harness.DeployOn(1);
  uint64_t client = *harness.Attach(job, "c", 0, 0);
  harness.Heard(client);
  // One that is alone may be larger.
  ASSERT_EQ(harness.Send(client, 1, 0, {1, 2, 3, 4, 5}), absl::OkStatus());
  EXPECT_EQ(harness.Send(client, 2, 0, {6}).code(), absl::StatusCode::kResourceExhausted);
  client = *harness.Attach(job, "c", 1, 0);
  harness.Heard(client);
  harness.Settle();
  harness.RunAll();
  ASSERT_EQ(harness.Send(client, 2, 0, {6, 7}), absl::OkStatus());
  ASSERT_EQ(harness.Send(client, 3, 0, {8}), absl::OkStatus());
  EXPECT_EQ(harness.Send(client, 4, 0, {9}).code(), absl::StatusCode::kResourceExhausted);
}

TEST(FlowCoreTest, AClientHasNoMoreThanItsWindowAndWorkersHearWhatItTook) {
  Limits limits;
  limits.flow_window_bytes = 3 * kRecord;
  FlowHarness harness(limits);
  const std::string job = harness.DeployOn(1);
  const uint64_t client = *harness.Attach(job, "c", std::nullopt, 0);
  const uint64_t feeder = *harness.Attach(job, "f", 0, std::nullopt);
  harness.Heard(client);
  harness.Heard(feeder);
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(harness.Send(feeder, i, 0, {i, i}), absl::OkStatus());
  harness.Settle();
  harness.RunAll();
  EXPECT_THAT(harness.Heard(client), ElementsAre("records 1 of epoch 0: 1@0 1@1"));
  EXPECT_THAT(harness.Heard(client), IsEmpty());
  const int before = harness.news + static_cast<int>(harness.deferred.size());
  ASSERT_EQ(harness.Acknowledge(client, 1), absl::OkStatus());
  EXPECT_EQ(harness.news + static_cast<int>(harness.deferred.size()), before + 1);
  EXPECT_THAT(harness.Heard(client), ElementsAre("records 2 of epoch 0: 2@2 2@3"));
  harness.Settle();
  EXPECT_EQ(harness.workers[1]->taken, 2 * kRecord);
  EXPECT_EQ((*harness.core.flows().Get(job)).outputs(0).kept_bytes(), 4 * kRecord);
}

TEST(FlowCoreTest, AClientThatComesBackGoesOnWhereItWas) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(1);
  const uint64_t first = *harness.Attach(job, "c", 0, 0);
  harness.Heard(first);
  ASSERT_EQ(harness.Send(first, 1, 0, {1}), absl::OkStatus());
  ASSERT_EQ(harness.Send(first, 2, 0, {2}), absl::OkStatus());
  ASSERT_EQ(harness.Send(first, 3, 0, {3}), absl::OkStatus());
  harness.Settle();
  harness.RunAll();
  EXPECT_THAT(harness.Heard(first), SizeIs(4));
  ASSERT_EQ(harness.Acknowledge(first, 1), absl::OkStatus());
  harness.core.flows().Detach(first);
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
  v1::ExplainFrontierRequest question;
  question.set_id(job);
  EXPECT_THAT((*harness.core.flows().Explain(question)).text(),
              HasSubstr("client 'c' feeds it and was lost"));

  // It knows that message 2 was taken, and has received number 2.
  const uint64_t second = *harness.Attach(job, "c", 2, 2);
  EXPECT_THAT(harness.Heard(second), ElementsAre("attached", "records 3 of epoch 0: 3@2"));
  ASSERT_EQ(harness.Send(second, 3, 0, {3}), absl::OkStatus());  // a repetition
  ASSERT_EQ(harness.Send(second, 4, 0, {4}), absl::OkStatus());
  harness.Settle();
  harness.RunAll();
  EXPECT_THAT(harness.Heard(second),
              ElementsAre("in: taken 4, epoch 0, bytes 64/64", "records 4 of epoch 0: 4@3"));
  harness.core.flows().Detach(second);
  // A new one knows nothing: it gets what was not acknowledged.
  const uint64_t third = *harness.Attach(job, "d", 0, 0);
  EXPECT_THAT(harness.Heard(third),
              ElementsAre("attached", "records 2 of epoch 0: 2@1", "records 3 of epoch 0: 3@2",
                          "records 4 of epoch 0: 4@3"));
  EXPECT_EQ(harness.Attach(job, "d", 5, 0).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(harness.Attach(job, "d", 0, 5).status().code(), absl::StatusCode::kDataLoss);
}

TEST(FlowCoreTest, OneClientAtATimeAndTheSameOneTakesItsOwnPlace) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(1);
  const uint64_t first = *harness.Attach(job, "c", 0, std::nullopt);
  harness.Heard(first);
  EXPECT_THAT(harness.Attach(job, "d", 0, std::nullopt).status().message(),
              HasSubstr("client 'c' is attached to input 'in'"));
  ASSERT_TRUE(harness.Attach(job, "d", std::nullopt, 0).ok());
  const uint64_t again = *harness.Attach(job, "c", 0, std::nullopt);
  EXPECT_THAT(harness.Heard(first), ElementsAre(HasSubstr("'c' has attached again")));
  EXPECT_EQ(harness.Send(first, 1, 0, {1}).code(), absl::StatusCode::kAborted);
  harness.core.flows().Detach(first);  // late, and of no consequence
  EXPECT_THAT(harness.Heard(again), ElementsAre("attached"));
  EXPECT_EQ(harness.Send(again, 1, 0, {1}), absl::OkStatus());
}

TEST(FlowCoreTest, ACancelledFlowEndsWhenAllWorkersHaveStopped) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  const uint64_t client = *harness.Attach(job, "c", 0, 0);
  harness.Heard(client);
  ASSERT_EQ(harness.Send(client, 1, 0, {1}), absl::OkStatus());
  harness.Settle();
  harness.RunOne(1);  // what came out before the cancel and was not told yet
  harness.Settle();
  ASSERT_TRUE(harness.core.Cancel(job).ok());
  EXPECT_EQ(harness.Job(job).view.waits_for(), "the end on a, b");
  harness.Settle();
  EXPECT_TRUE(harness.workers[1]->stopped && harness.workers[2]->stopped);
  harness.RunAll();  // what comes now is of no interest
  harness.Stop(1);
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
  harness.Stop(2);
  EXPECT_EQ(harness.State(job), v1::Job::CANCELLED);
  EXPECT_THAT(harness.Heard(client),
              ElementsAre("in: taken 1, epoch 0, bytes 16/16", "ended CANCELLED"));
  EXPECT_EQ(harness.core.Cancel(job)->state(), v1::Job::CANCELLED);
  EXPECT_TRUE(harness.core.idle());
}

TEST(FlowCoreTest, AFlowRunsWhenEveryWorkerHasIt) {
  for (const bool fails : {false, true}) {
    FlowHarness harness;
    harness.AddWorker(1, "a");
    harness.AddWorker(2, "b");
    const std::string job = harness.Deploy()->job.id();
    harness.CompileAll();
    harness.LoadAll();
    std::vector<SentToWorker> deploys = harness.TakeSent();
    std::erase_if(deploys,
                  [](const SentToWorker& item) { return !item.message.has_deploy_flow(); });
    ASSERT_THAT(deploys, SizeIs(2));
    harness.sent = {deploys[0]};
    harness.Settle();
    EXPECT_EQ(harness.State(job), v1::Job::QUEUED);
    if (!fails) {
      harness.sent = {deploys[1]};
      harness.Settle();
      EXPECT_EQ(harness.State(job), v1::Job::RUNNING);
      continue;
    }
    v1::WorkerMessage message;
    message.mutable_flow_deployed()->set_job(deploys[1].message.deploy_flow().job());
    message.mutable_flow_deployed()->set_generation(1);
    message.mutable_flow_deployed()->mutable_failure()->set_code(3);
    message.mutable_flow_deployed()->mutable_failure()->set_message("no such vertex");
    harness.core.OnWorkerMessage(2, message, {});
    EXPECT_EQ(harness.Job(job).view.failure().worker(), "b");
    harness.Settle();
    EXPECT_TRUE(harness.workers[1]->stopped);
  }
}

TEST(FlowCoreTest, ALostWorkerFailsTheFlowAndIsNamed) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  harness.core.OnWorkerClosed(2, absl::UnavailableError("the connection broke"));
  EXPECT_EQ(harness.State(job), v1::Job::RUNNING);  // it may still be at it
  harness.Settle();
  EXPECT_TRUE(harness.workers[1]->stopped);
  harness.Stop(1);
  EXPECT_EQ(harness.Job(job).view.waits_for(), "the end on b");
  harness.clock.Advance(Limits().fence);
  harness.core.OnTick();
  EXPECT_EQ(harness.State(job), v1::Job::FAILED);
  EXPECT_EQ(harness.Job(job).view.failure().worker(), "b");
  EXPECT_THAT(harness.Job(job).view.failure().message(), HasSubstr("the connection broke"));
  v1::ExplainFrontierRequest question;
  question.set_id(job);
  EXPECT_THAT((*harness.core.flows().Explain(question)).text(), HasSubstr("worker 'b', lost"));
}

TEST(FlowCoreTest, AFailureStopsTheOthersAndTheCauseIsNamed) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  harness.FailFlow(1, absl::StatusCode::kUnavailable, "worker b does not answer");
  EXPECT_EQ(harness.Job(job).view.failure().message(), "");
  harness.FailFlow(2, absl::StatusCode::kInvalidArgument, "'mid': iteration 3 is bad");
  EXPECT_EQ(harness.Job(job).view.failure().worker(), "b");
  EXPECT_THAT(harness.Job(job).view.failure().message(), HasSubstr("iteration 3"));
  harness.Settle();
  harness.Stop(1);
  harness.Stop(2);
  EXPECT_EQ(harness.State(job), v1::Job::FAILED);
}

TEST(FlowCoreTest, AConsequenceWithoutACauseFailsAfterAWhile) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  harness.FailFlow(1, absl::StatusCode::kUnavailable, "worker b does not answer");
  harness.clock.Advance(Limits().cause_within);
  harness.core.OnTick();
  EXPECT_EQ(harness.Job(job).view.failure().worker(), "a");
}

TEST(FlowCoreTest, ABatchThatIsNotAllowedFailsTheFlow) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  v1::WorkerMessage message;
  v1::ProgressBatch* batch = message.mutable_progress();
  batch->set_job(harness.workers[1]->deploy.job());
  batch->set_generation(1);
  batch->set_number(7);
  harness.core.OnWorkerMessage(1, message, {});
  EXPECT_EQ(harness.Job(job).view.failure().worker(), "a");
  // Of another generation nothing is heard.
  const std::string other = harness.Deploy()->job.id();
  harness.Settle();
  batch->set_job(harness.workers[1]->deploy.job());
  batch->set_generation(9);
  harness.core.OnWorkerMessage(1, message, {});
  EXPECT_EQ(harness.State(other), v1::Job::RUNNING);
}

TEST(FlowCoreTest, AWorkerThatIsLostBeforeItHasTheFlowIsReplaced) {
  FlowHarness harness;
  harness.AddWorker(1, "a");
  harness.AddWorker(2, "b");
  ASSERT_TRUE(harness.Deploy(kCopy, "", 2).ok());
  harness.CompileAll();
  harness.core.OnWorkerClosed(2, absl::OkStatus());
  EXPECT_EQ(harness.State("job-1"), v1::Job::QUEUED);
  EXPECT_THAT(harness.Job("job-1").view.waits_for(), HasSubstr("1 is ready (a)"));
  harness.AddWorker(3, "c");
  harness.LoadAll();
  harness.Settle();
  EXPECT_EQ(harness.State("job-1"), v1::Job::RUNNING);
  EXPECT_THAT(harness.Job("job-1").view.workers(), ElementsAre("a", "c"));
}

TEST(FlowCoreTest, ExplainsWhatItWaitsForAndTellsItsStatus) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(1);
  const uint64_t client = *harness.Attach(job, "c", 0, std::nullopt);
  harness.Heard(client);
  ASSERT_EQ(harness.Send(client, 1, 0, {1, 2}), absl::OkStatus());
  ASSERT_EQ(harness.Advance(client, 2, 4), absl::OkStatus());
  harness.Settle();
  v1::ExplainFrontierRequest question;
  question.set_id(job);
  question.set_vertex("out");
  auto answer = harness.core.flows().Explain(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->text(), HasSubstr("the frontier of input 0 of 'out' is {(0)}"));
  ASSERT_THAT(answer->waits(), SizeIs(1));
  EXPECT_EQ(answer->waits(0).vertex(), "mid");
  EXPECT_EQ(answer->waits(0).kind(), v1::ExplainFrontierResponse::Wait::FRAME);
  EXPECT_THAT(answer->waits(0).time(), ElementsAre(0));
  harness.RunAll();
  EXPECT_THAT((*harness.core.flows().Explain(question)).waits(0).client(), "c");
  const v1::FlowStatus status = *harness.core.flows().Get(job);
  EXPECT_EQ(status.inputs(0).client(), "c");
  EXPECT_EQ(status.inputs(0).records(), 2);
  EXPECT_EQ(status.outputs(0).records(), 2);
  EXPECT_EQ(status.outputs(0).epoch(), 4);
  EXPECT_EQ(status.probes(0).epoch(), 4);
  EXPECT_GT(status.progress().frontier_moves(), 0);
  EXPECT_EQ(harness.core.Stats().flows.epochs, 4);  // at the output; a probe is no second one
  question.set_vertex("outt");
  EXPECT_THAT(harness.core.flows().Explain(question).status().message(),
              HasSubstr("no vertex 'outt'; it has in, mid, out, seen"));
}

// What worker `id` says of a vertex of its only flow.
void Report(FlowHarness* harness, uint64_t id, int vertex,
            const std::function<void(v1::FlowReport::Vertex*)>& fill) {
  v1::WorkerMessage message;
  v1::FlowReport* report = message.mutable_flow_report();
  report->set_job(harness->workers.at(id)->deploy.job());
  report->set_generation(harness->workers.at(id)->deploy.generation());
  for (uint32_t v = 0; v < 4; ++v) report->add_vertices()->set_vertex(v);
  fill(report->mutable_vertices(vertex));
  harness->core.OnWorkerMessage(id, message, {});
}

std::string Explained(FlowHarness* harness, const std::string& job) {
  v1::ExplainFrontierRequest question;
  question.set_id(job);
  question.set_vertex("out");
  return harness->core.flows().Explain(question)->text();
}

TEST(FlowCoreTest, SaysWhereFramesAreAndWhoFeedsAndTakesNothing) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  EXPECT_THAT(Explained(&harness, job), HasSubstr("; no client feeds it\n"));
  const uint64_t client = *harness.Attach(job, "c", 0, std::nullopt);
  harness.Heard(client);
  ASSERT_EQ(harness.Send(client, 1, 0, {1, 2}), absl::OkStatus());
  harness.Settle();
  EXPECT_THAT(Explained(&harness, job), HasSubstr("32 bytes of its records are not consumed"));
  EXPECT_THAT(Explained(&harness, job), HasSubstr("with one of the workers 'a', 'b' for 0"));
  Report(&harness, 2, 1, [](v1::FlowReport::Vertex* vertex) {
    vertex->set_running_ns(2'000'000'000);
    vertex->mutable_running_time()->add_coordinates(0);
  });
  Report(&harness, 1, 1, [](v1::FlowReport::Vertex* vertex) {
    vertex->set_running_ns(5'000'000'000);
    vertex->mutable_running_time()->add_coordinates(4);
  });
  harness.clock.Advance(absl::Milliseconds(500));
  EXPECT_THAT(Explained(&harness, job),
              HasSubstr("1 frame of (0) for input 0 of 'mid' has been there for 500ms: worker 'b' "
                        "has run a call for 2.5s\n"));
  // Behind another time, and behind an output that nobody takes.
  Report(&harness, 2, 1, [](v1::FlowReport::Vertex* vertex) {
    vertex->set_queued_frames(1);
    vertex->set_running_ns(1'000'000'000);
    vertex->mutable_running_time()->add_coordinates(7);
  });
  EXPECT_THAT(Explained(&harness, job),
              HasSubstr("queued on worker 'b' behind a call at (7) that has run for 1s\n"));
  Report(&harness, 2, 1, [](v1::FlowReport::Vertex* vertex) {
    vertex->set_queued_frames(1);
    vertex->set_blocked_ns(3'000'000'000);
    vertex->set_blocked_by(2);
  });
  EXPECT_THAT(Explained(&harness, job),
              HasSubstr("worker 'b' has begun no call for 3s, as 'out' has no room\n"));
  Report(&harness, 1, 2, [](v1::FlowReport::Vertex* vertex) {
    vertex->set_blocked_ns(4'000'000'000);
    vertex->set_blocked_by(2);
  });
  EXPECT_THAT(Explained(&harness, job),
              HasSubstr("output 'out' has no room: it keeps 0 bytes that no client takes; worker "
                        "'a' has waited for 4s\n"));
  // What was advanced is the workers' to say.
  ASSERT_EQ(harness.Advance(client, 2, 4), absl::OkStatus());
  EXPECT_THAT(Explained(&harness, job),
              HasSubstr("it was moved to 4, which has not come from there yet"));
  harness.clock.Advance(absl::Milliseconds(1500));
  EXPECT_THAT(Explained(&harness, job), HasSubstr("nothing has been heard of worker 'a' for 1.5s"));
}

TEST(FlowCoreTest, RecordsGoToThoseWhoHaveLeastToDo) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(2);
  const uint64_t client = *harness.Attach(job, "c", 0, std::nullopt);
  harness.Heard(client);
  for (uint64_t number = 1; number <= 2; ++number) {
    ASSERT_EQ(harness.Send(client, number, 0, {1}), absl::OkStatus());
  }
  harness.Settle();
  EXPECT_THAT(harness.workers.at(1)->waiting, SizeIs(1));
  EXPECT_THAT(harness.workers.at(2)->waiting, SizeIs(1));
  // The first worker does not get on with its record.
  for (uint64_t number = 3; number <= 6; ++number) {
    harness.RunOne(2);
    ASSERT_EQ(harness.Send(client, number, 0, {1}), absl::OkStatus());
    harness.Settle();
    EXPECT_THAT(harness.workers.at(1)->waiting, SizeIs(1));
    EXPECT_THAT(harness.workers.at(2)->waiting, SizeIs(1));
  }
}

TEST(FlowCoreTest, OfFlowsThatHaveEndedOnlySoMuchIsKept) {
  Limits limits;
  limits.max_kept_result_bytes = 3 * kRecord;
  FlowHarness harness(limits);
  std::vector<std::string> jobs = {harness.DeployOn(1)};
  for (int i = 0; i < 2; ++i) {
    if (i > 0) {
      jobs.push_back(harness.Deploy()->job.id());
      harness.Settle();
    }
    const uint64_t feeder = *harness.Attach(jobs[i], "f", 0, std::nullopt);
    harness.Heard(feeder);
    ASSERT_EQ(harness.Send(feeder, 1, 0, {1, 2}), absl::OkStatus());
    ASSERT_EQ(harness.Advance(feeder, 2, 0, true), absl::OkStatus());
    harness.Settle();
    harness.RunAll();
    EXPECT_EQ(harness.State(jobs[i]), v1::Job::SUCCEEDED);
  }
  EXPECT_THAT(harness.Attach(jobs[0], "c", std::nullopt, 0).status().message(),
              HasSubstr("'out' is not kept any more"));
  const uint64_t client = *harness.Attach(jobs[1], "c", std::nullopt, 0);
  EXPECT_THAT(harness.Heard(client), ElementsAre("attached", "records 1 of epoch 0: 1@0 2@1",
                                                 "complete 2: all", "ended SUCCEEDED"));
}

TEST(FlowCoreTest, ShuttingDownEndsFlowsAtOnce) {
  FlowHarness harness;
  const std::string job = harness.DeployOn(1);
  harness.core.Drain();
  EXPECT_FALSE(harness.core.idle());
  EXPECT_EQ(harness.Deploy().status().code(), absl::StatusCode::kUnavailable);
  harness.core.FailAll(absl::UnavailableError("stopped"));
  EXPECT_EQ(harness.State(job), v1::Job::FAILED);
  EXPECT_TRUE(harness.core.idle());
}

}  // namespace
}  // namespace weir
