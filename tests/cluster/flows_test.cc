// Flows through a session, on clusters with real workers: what comes out is what the oracle says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/api/deployed_flow.h"
#include "client/api/remote_session.h"
#include "client/embedded/embedded_cluster.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "tests/cluster/example_flows.h"
#include "tests/cluster/grpc_test_cluster.h"
#include "weir/v1/flows.grpc.pb.h"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr char kWordCount[] = R"(
func @pair(%word: i64[]) -> (i64[], i64[]) {
  %one = constant {value = i64[] {1}} : i64[]
  return %word, %one
}
flow @word_count {
  %words = input() {types = ["i64[]"]}
  %pairs = map(%words) {function = "pair"}
  %counts = reduce_by_key(%pairs) {keys = 1, combine = "sum"}
  %out = output(%counts)
})";

absl::Time Soon() { return absl::Now() + absl::Minutes(5); }

Tensor Numbers(const std::vector<int64_t>& numbers) {
  Tensor column(DType::kI64, {static_cast<int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), column.mutable_data<int64_t>());
  return column;
}

// Batches by epoch; epochs rise.
using Fed = std::vector<std::pair<int64_t, std::vector<int64_t>>>;

// What comes out of `out`, as the oracle says.
std::string Expected(const std::string& text, const Fed& fed, const std::string& input = "words") {
  const auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  FlowInputs inputs;
  std::map<int64_t, int64_t> origins;
  for (const auto& [epoch, numbers] : fed) {
    inputs[input].push_back({epoch, MakeBatch({Numbers(numbers)}, origins[epoch])});
    origins[epoch] += static_cast<int64_t>(numbers.size());
  }
  auto result = RunReferenceFlow(*flow, inputs);
  EXPECT_TRUE(result.ok()) << result.status();
  return ToString(result->outputs);
}

std::string Deploy(Session* session, const std::string& text) {
  v1::DeployRequest request;
  request.set_flow(text);
  auto deployed = session->Deploy(request);
  EXPECT_TRUE(deployed.ok()) << deployed.status();
  return deployed->job().id();
}

std::unique_ptr<DeployedFlow> Attach(const std::shared_ptr<Session>& session, const std::string& id,
                                     AttachOptions options = {}) {
  auto flow = DeployedFlow::Attach(session, id, std::move(options), Soon());
  EXPECT_TRUE(flow.ok()) << flow.status();
  return *std::move(flow);
}

void Feed(DeployedFlow* flow, const Fed& fed, const std::string& input = "words") {
  int64_t open = 0;
  for (const auto& [epoch, numbers] : fed) {
    if (epoch > open) {
      ASSERT_EQ(flow->Advance(input, epoch), absl::OkStatus());
      open = epoch;
    }
    ASSERT_EQ(flow->Send(input, epoch, {Numbers(numbers)}, Soon()), absl::OkStatus());
  }
}

// All that is left, by epoch.
std::string TakeAll(DeployedFlow* flow) {
  std::map<int64_t, std::vector<RecordBatch>> batches;
  while (true) {
    auto result = flow->Next("out", Soon());
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok() || !result->has_value()) break;
    batches[(*result)->epoch].push_back(std::move((*result)->batch));
  }
  FlowOutputs outputs;
  for (const auto& [epoch, parts] : batches) {
    outputs["out"][epoch] = Consolidated(ConcatBatches(parts, *flow->TypeOf("out")));
  }
  return ToString(outputs);
}

std::shared_ptr<Session> Embedded(int workers) {
  auto session = StartEmbedded({.workers = workers});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::shared_ptr<Session> Remote(const std::string& address) {
  auto session = ConnectRemote({.address = address});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

const Fed kWords = {{0, {7, 8, 7}}, {0, {7}}, {1, {8, 9}}, {3, {1, 1, 1, 2}}, {3, {2, 1}}};

void CheckRun(const std::shared_ptr<Session>& session, const std::string& text, const Fed& fed,
              const std::string& input = "words") {
  const std::string id = Deploy(session.get(), text);
  const auto flow = Attach(session, id);
  Feed(flow.get(), fed, input);
  ASSERT_EQ(flow->CloseInput(input), absl::OkStatus());
  EXPECT_EQ(TakeAll(flow.get()), Expected(text, fed, input));
  auto job = flow->AwaitEnd(Soon());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::SUCCEEDED) << job->failure().message();
}

TEST(FlowsTest, CountsWordsByEpochOnAnyNumberOfWorkers) {
  for (int workers = 1; workers <= 3; ++workers) CheckRun(Embedded(workers), kWordCount, kWords);
  GrpcTestCluster cluster(2);
  CheckRun(Remote(cluster.server().address()), kWordCount, kWords);
}

// A loop of the flow, a loop of a function that is brought out, and graphs of values as TensorFlow
// has them, of which one has a cycle with two entries.
class LoopFlow : public testing::TestWithParam<std::string> {};

TEST_P(LoopFlow, GoesRoundAcrossWorkers) {
  const Fed fed = {{0, {2, 3, 27}}, {0, {10, 11}}, {2, {97, 6, 5}}};
  for (int workers = 1; workers <= 3; ++workers) {
    CheckRun(Embedded(workers), GetParam(), fed, "numbers");
  }
  GrpcTestCluster cluster(2);
  CheckRun(Remote(cluster.server().address()), GetParam(), fed, "numbers");
}

INSTANTIATE_TEST_SUITE_P(All, LoopFlow,
                         testing::Values(kCollatz, kPipelined, kPowers, TwoEntries()));

TEST(FlowsTest, EpochsAreCompleteWhileLaterOnesAreOpen) {
  GrpcTestCluster cluster(2);
  const auto session = Remote(cluster.server().address());
  const auto flow = Attach(session, Deploy(session.get(), kWordCount));
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    ASSERT_EQ(flow->Send("words", epoch, {Numbers({epoch, 5, 5})}, Soon()), absl::OkStatus());
    ASSERT_EQ(flow->Advance("words", epoch + 1), absl::OkStatus());
    auto counts = flow->Collect("out", epoch, Soon());
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ(counts->size(), 2);
    EXPECT_GT(*flow->CompleteBefore("out"), epoch);
  }
  auto text = flow->Explain("out");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("source 'words' is open at (5)"));
  const auto late = flow->AwaitComplete("out", 5, absl::Now() + absl::Milliseconds(20));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(flow->Send("words", 2, {Numbers({1})}, Soon()).message(),
              HasSubstr("epoch 2 is over"));
  EXPECT_THAT(flow->Send("words", 6, {Tensor::Of<float>({1}, {1})}, Soon()).message(),
              HasSubstr("input 'words'"));
  const v1::FlowStatus status = *session->GetFlow(flow->id());
  EXPECT_EQ(status.inputs(0).records(), 15);
  EXPECT_EQ(status.outputs(0).records(), 10);
  EXPECT_EQ(session->ListFlows()->size(), 1u);
}

TEST(FlowsTest, ABatchBeyondAMessageComesInPieces) {
  GrpcTestCluster cluster(2);
  const auto session = Remote(cluster.server().address());
  const auto flow = Attach(session, Deploy(session.get(), R"(
    flow @copy {
      %words = input() {types = ["i64[64]"]}
      %out = output(%words)
    })"));
  Tensor rows(DType::kI64, {20'000, 64});
  for (int64_t i = 0; i < rows.num_elements(); ++i) rows.mutable_data<int64_t>()[i] = i;
  ASSERT_EQ(flow->Send("words", 0, {rows}, Soon()), absl::OkStatus());
  ASSERT_EQ(flow->Advance("words", 1), absl::OkStatus());
  auto back = flow->Collect("out", 0, Soon());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(Sorted(*back).columns[0].BitEquals(rows));
}

TEST(FlowsTest, ACancelledFlowEnds) {
  GrpcTestCluster cluster(2);
  const auto session = Remote(cluster.server().address());
  const auto flow = Attach(session, Deploy(session.get(), kWordCount));
  ASSERT_EQ(flow->Send("words", 0, {Numbers({1})}, Soon()), absl::OkStatus());
  ASSERT_TRUE(flow->Cancel().ok());
  auto job = flow->AwaitEnd(Soon());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::CANCELLED);
  EXPECT_TRUE(absl::IsCancelled(flow->Send("words", 0, {Numbers({1})}, Soon())));
}

TEST(FlowsTest, AFlowEndsAlthoughNobodySeesWhatIsDoneLast) {
  for (int workers = 1; workers <= 2; ++workers) {
    const auto session = Embedded(workers);
    const auto flow = Attach(session, Deploy(session.get(), R"(
      flow @unread {
        %words = input() {types = ["i64[]"]}
        %counts = count(%words) {keys = 1}
      })"));
    ASSERT_EQ(flow->Send("words", 0, {Numbers({1, 2, 1})}, Soon()), absl::OkStatus());
    ASSERT_EQ(flow->CloseInput("words"), absl::OkStatus());
    auto job = flow->AwaitEnd(Soon());
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->state(), v1::Job::SUCCEEDED);
  }
}

TEST(FlowsTest, AFailingRecordFailsTheFlowAndIsNamed) {
  const auto session = Embedded(2);
  const auto flow = Attach(session, Deploy(session.get(), R"(
    func @checked(%n: i64[]) -> (i64[]) {
      %zero = constant {value = i64[] {0}} : i64[]
      %fine = greater(%n, %zero) : bool[]
      check(%fine) {message = "a number below one"}
      return %n
    }
    flow @checks {
      %words = input() {types = ["i64[]"]}
      %same = map(%words) {function = "checked"}
      %out = output(%same)
    })"));
  ASSERT_EQ(flow->Send("words", 0, {Numbers({3, 2, -1, 4})}, Soon()), absl::OkStatus());
  auto job = flow->AwaitEnd(Soon());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::FAILED);
  EXPECT_THAT(job->failure().message(), HasSubstr("'same'"));
  EXPECT_THAT(job->failure().message(), HasSubstr("a number below one"));
  EXPECT_FALSE(job->failure().worker().empty());
}

TEST(FlowsTest, ALostWorkerFailsTheFlowAndIsNamed) {
  GrpcTestCluster cluster(3);
  const auto session = Remote(cluster.server().address());
  const auto flow = Attach(session, Deploy(session.get(), kWordCount));
  ASSERT_EQ(flow->Send("words", 0, {Numbers({1, 2})}, Soon()), absl::OkStatus());
  cluster.DropWorker(1);
  auto job = flow->AwaitEnd(Soon());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::FAILED);
  EXPECT_THAT(job->failure().message(), HasSubstr("worker w2"));
  // The others take the next one.
  CheckRun(session, kWordCount, kWords);
}

TEST(FlowsTest, OneClientFeedsAndAnotherTakes) {
  GrpcTestCluster cluster(2);
  const auto session = Remote(cluster.server().address());
  const std::string id = Deploy(session.get(), kWordCount);
  const auto taker = Attach(session, id,
                            {.client = "taker",
                             .inputs = std::vector<std::string>(),
                             .outputs = std::vector<std::string>{"out"}});
  {
    const auto feeder = Attach(session, id,
                               {.client = "feeder",
                                .inputs = std::vector<std::string>{"words"},
                                .outputs = std::vector<std::string>()});
    auto second = DeployedFlow::Attach(session, id, {.client = "second"}, Soon());
    EXPECT_THAT(second.status().message(), HasSubstr("client 'feeder' is attached"));
    Feed(feeder.get(), {kWords[0], kWords[1]});
    ASSERT_EQ(feeder->AwaitTaken("words", Soon()), absl::OkStatus());
  }
  // A client of another name goes on with the input.
  std::unique_ptr<DeployedFlow> next;
  while (next == nullptr) {
    auto attached = DeployedFlow::Attach(session, id,
                                         {.client = "next",
                                          .inputs = std::vector<std::string>{"words"},
                                          .outputs = std::vector<std::string>()},
                                         Soon());
    // The coordinator hears of the end of the first one a moment later.
    if (attached.ok()) next = *std::move(attached);
  }
  EXPECT_EQ(*next->EpochOf("words"), 0);
  Feed(next.get(), {kWords[2], kWords[3], kWords[4]});
  ASSERT_EQ(next->CloseInput("words"), absl::OkStatus());
  EXPECT_EQ(TakeAll(taker.get()), Expected(kWordCount, kWords));
}

TEST(FlowsTest, ABrokenConnectionIsMadeAgainAndNothingIsLostOrTwice) {
  GrpcTestCluster cluster(2);
  cluster.ServeClients("127.0.0.1:0");
  const auto session = Remote(cluster.client_address());
  const auto flow = Attach(session, Deploy(session.get(), kWordCount));
  Fed fed;
  for (int64_t epoch = 0; epoch < 30; ++epoch) {
    fed.push_back({epoch, {epoch, 1, 2, epoch % 3}});
    if (epoch > 0) {
      ASSERT_EQ(flow->Advance("words", epoch), absl::OkStatus());
    }
    ASSERT_EQ(flow->Send("words", epoch, {Numbers(fed.back().second)}, Soon()), absl::OkStatus());
    if (epoch % 10 == 5) cluster.RestartClientPort();
  }
  ASSERT_EQ(flow->CloseInput("words"), absl::OkStatus());
  EXPECT_EQ(TakeAll(flow.get()), Expected(kWordCount, fed));
}

TEST(FlowsTest, SendingWaitsForCreditAndSaysWhatFor) {
  const auto session = Embedded(1);
  const std::string id = Deploy(session.get(), R"(
    flow @copy {
      %words = input() {types = ["i64[1024]"]}
      %out = output(%words)
    })");
  const auto flow = Attach(session, id,
                           {.client = "feeder",
                            .inputs = std::vector<std::string>{"words"},
                            .outputs = std::vector<std::string>()});
  // Nobody takes what comes out: what is kept on the way is bounded.
  const Tensor rows(DType::kI64, {256, 1024});
  absl::Status status;
  int sent = 0;
  while (status.ok() && sent < 200) {
    status = flow->Send("words", 0, {rows}, absl::Now() + absl::Seconds(1));
    if (status.ok()) ++sent;
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("bytes of input 'words'"));
  EXPECT_GE(sent, 8);
  ASSERT_EQ(flow->CloseInput("words"), absl::OkStatus());
  const auto taker = Attach(session, id,
                            {.client = "taker",
                             .inputs = std::vector<std::string>(),
                             .outputs = std::vector<std::string>{"out"}});
  auto all = taker->Collect("out", 0, Soon());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 256 * sent);
}

TEST(FlowsTest, TheServiceRefusesWithAReason) {
  GrpcTestCluster cluster(1);
  auto stub = v1::Flows::NewStub(cluster.channel());
  v1::DeployRequest request;
  request.set_name("bad.flow");
  request.set_flow("flow @f {\n  %a = inputt() {types = [\"i64[]\"]}\n}");
  v1::DeployResponse response;
  grpc::ClientContext context;
  const grpc::Status refused = stub->Deploy(&context, request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(), HasSubstr("bad.flow:2:"));
  EXPECT_THAT(refused.error_message(), HasSubstr("did you mean 'input'?"));

  grpc::ClientContext attach_context;
  auto stream = stub->Attach(&attach_context);
  v1::AttachRequest first;
  first.mutable_ack();
  stream->Write(first);
  EXPECT_THAT(stream->Finish().error_message(), HasSubstr("first message is attach"));
}

TEST(FlowsTest, TheStatusTellsOfTheEndAndOfAllThatPassed) {
  GrpcTestCluster cluster(2);
  const auto session = Remote(cluster.server().address());
  const auto flow = Attach(session, Deploy(session.get(), kWordCount));
  v1::FlowStatus status = *session->GetFlow(flow->id());
  EXPECT_EQ(status.job().state(), v1::Job::RUNNING);
  EXPECT_THAT(status.vertices(2).frontiers(), testing::ElementsAre("{(0)}"));
  Feed(flow.get(), kWords);
  ASSERT_EQ(flow->CloseInput("words"), absl::OkStatus());
  TakeAll(flow.get());
  // Workers say what they did when they are told of the end, each by itself.
  const auto is_all = [&] {
    status = *session->GetFlow(flow->id());
    return status.vertices(1).records() == 12 && status.vertices(3).records() == 6;
  };
  for (const absl::Time end = Soon(); !is_all() && absl::Now() < end;) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_TRUE(is_all());
  EXPECT_EQ(status.job().state(), v1::Job::SUCCEEDED);
  EXPECT_TRUE(status.outputs(0).finished());
  EXPECT_EQ(status.vertices(1).records(), 12);
  EXPECT_GT(status.vertices(2).peer_frames(), 0);
  EXPECT_EQ(status.vertices(2).state_bytes(), 0);
  // What passed the coordinator was what the client fed and took.
  const CoordinatorStats stats = cluster.coordinator().Stats();
  EXPECT_EQ(stats.feed_bytes, 12 * 16);   // a column and the origins
  EXPECT_EQ(stats.result_bytes, 6 * 24);  // two columns and the origins
  EXPECT_EQ(stats.other_tensor_bytes, 0);
  EXPECT_THAT(cluster.metrics().Text(), HasSubstr("weir_flow_records_total{direction=\"in\"} 12"));
}

}  // namespace
}  // namespace weir
