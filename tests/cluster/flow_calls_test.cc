// Calls of one record into a deployed flow, by many threads at once: each answer is that of its own
// record, whoever else is in the epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/api/deployed_flow.h"
#include "client/api/remote_session.h"
#include "client/embedded/embedded_cluster.h"
#include "tests/cluster/grpc_test_cluster.h"

namespace weir {
namespace {

using testing::HasSubstr;

// x -> (x, 2 x); numbers below zero fail.
constexpr char kDouble[] = R"(
func @double(%x: f32[2]) -> (f32[2], f32[2]) {
  %zero = constant {value = f32[] {0}} : f32[]
  %one = reduce_min(%x) {axes = [0]} : f32[]
  %is = greater_equal(%one, %zero) : bool[]
  !0 = check(%is) {message = "not below zero"}
  %y = add(%x, %x) : f32[2]
  return %x, %y
}
flow @doubles {
  %in = input() {types = ["f32[2]"], max_batch = 16, max_wait_us = 500}
  %y = map(%in) {function = "double", on_failure = "drop"}
  %out = output(%y)
})";

Tensor Record(float x) { return Tensor::Of<float>({2}, {x, x + 0.5f}); }

std::string Deploy(Session* session, const std::string& text = kDouble) {
  v1::DeployRequest request;
  request.set_flow(text);
  auto deployed = session->Deploy(request);
  EXPECT_TRUE(deployed.ok()) << deployed.status();
  return deployed->job().id();
}

std::shared_ptr<Session> Here() {
  auto session = StartEmbedded({.workers = 2});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

void CheckManyCalls(Session* session) {
  v1::CallFlowRequest request;
  request.set_id(Deploy(session));
  constexpr int kThreads = 8;
  constexpr int kCalls = 40;
  std::atomic<int> failed_alone{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        const float x = static_cast<float>(t * kCalls + i) * (i % 10 == 9 ? -1.0f : 1.0f);
        const auto answer = session->CallFlow(request, {Record(x)});
        if (i % 10 == 9) {
          EXPECT_THAT(std::string(ToStd(answer.status().message())), HasSubstr("not below zero"));
          ++failed_alone;
          continue;
        }
        ASSERT_TRUE(answer.ok()) << answer.status();
        ASSERT_EQ(answer->size(), 2u);
        EXPECT_TRUE((*answer)[0].BitEquals(Record(x)));
        EXPECT_EQ((*answer)[1].At<float>({1}), 2 * x + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed_alone.load(), kThreads * kCalls / 10);
  // Some were together: there are fewer epochs than calls.
  const auto status = session->GetFlow(request.id());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->inputs(0).records(), kThreads * kCalls);
  EXPECT_LT(status->inputs(0).input().epoch(), kThreads * kCalls);
}

TEST(FlowCalls, EachIsAnsweredByItselfHere) { CheckManyCalls(Here().get()); }

TEST(FlowCalls, EachIsAnsweredByItselfOverGrpc) {
  GrpcTestCluster cluster(2);
  auto session = ConnectRemote({.address = cluster.server().address()});
  ASSERT_TRUE(session.ok()) << session.status();
  CheckManyCalls(session->get());
}

// Answers of a FlowCaller, by what was asked.
class Answers {
 public:
  FlowCaller::OnAnswer For(int asked) {
    return [this, asked](absl::StatusOr<std::vector<Tensor>> columns) {
      std::lock_guard<std::mutex> lock(mutex_);
      EXPECT_TRUE(answers_.emplace(asked, std::move(columns)).second) << asked;
      changed_.notify_all();
    };
  }
  const std::map<int, absl::StatusOr<std::vector<Tensor>>>& Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return answers_.size() >= count; });
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, absl::StatusOr<std::vector<Tensor>>> answers_;
};

void CheckManyCallsOfOne(Session* session) {
  v1::CallFlowRequest request;
  request.set_id(Deploy(session));
  constexpr int kCalls = 3000;  // more than a stream has open at a time
  Answers answers;
  const std::unique_ptr<FlowCaller> caller = session->OpenCaller(request);
  for (int i = 0; i < kCalls; ++i) {
    const auto x = static_cast<float>(i);
    caller->Call({Record(i % 10 == 9 ? -x : x)}, answers.For(i));
  }
  for (const auto& [asked, answer] : answers.Await(kCalls)) {
    if (asked % 10 == 9) {
      EXPECT_THAT(std::string(ToStd(answer.status().message())), HasSubstr("not below zero"));
      continue;
    }
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE((*answer)[0].BitEquals(Record(static_cast<float>(asked))));
    EXPECT_EQ((*answer)[1].At<float>({1}), 2.0f * static_cast<float>(asked) + 1);
  }
  // What is wrong with one call is its answer; the others go on.
  Answers more;
  caller->Call({Tensor::Scalar(1.0f)}, more.For(0));
  caller->Call({Record(1)}, more.For(1));
  const auto& both = more.Await(2);
  EXPECT_TRUE(absl::IsInvalidArgument(both.at(0).status())) << both.at(0).status();
  EXPECT_TRUE(both.at(1).ok()) << both.at(1).status();
}

TEST(FlowCalls, OneCallerHasManyUnderWayHere) { CheckManyCallsOfOne(Here().get()); }

TEST(FlowCalls, OneCallerHasManyUnderWayOverGrpc) {
  GrpcTestCluster cluster(2);
  auto session = ConnectRemote({.address = cluster.server().address()});
  ASSERT_TRUE(session.ok()) << session.status();
  CheckManyCallsOfOne(session->get());
}

// A flow whose calls wait for a minute.
std::string DeploySlow(Session* session) {
  std::string text = kDouble;
  text.replace(text.find("max_wait_us = 500"), 17, "max_wait_us = 60000000");
  return Deploy(session, text);
}

void CheckEndsOfCallers(Session* session) {
  v1::CallFlowRequest request;
  request.set_id("nowhere");
  Answers answers;
  std::unique_ptr<FlowCaller> caller = session->OpenCaller(request);
  caller->Call({Record(1)}, answers.For(0));
  EXPECT_TRUE(absl::IsNotFound(answers.Await(1).at(0).status()));
  // Later ones too.
  caller->Call({Record(1)}, answers.For(1));
  EXPECT_TRUE(absl::IsNotFound(answers.Await(2).at(1).status()));

  request.set_id(DeploySlow(session));
  caller = session->OpenCaller(request);
  caller->Call({Record(1)}, answers.For(2));
  caller = nullptr;
  EXPECT_TRUE(absl::IsCancelled(answers.Await(3).at(2).status()))
      << answers.Await(3).at(2).status();

  caller = session->OpenCaller(request);
  caller->Call({Record(1)}, answers.For(3));
  ASSERT_TRUE(session->Cancel(request.id()).ok());
  EXPECT_FALSE(answers.Await(4).at(3).ok());
}

TEST(FlowCalls, WhatEndsACallerAnswersItsCallsHere) { CheckEndsOfCallers(Here().get()); }

TEST(FlowCalls, WhatEndsACallerAnswersItsCallsOverGrpc) {
  GrpcTestCluster cluster(1);
  auto session = ConnectRemote({.address = cluster.server().address()});
  ASSERT_TRUE(session.ok()) << session.status();
  CheckEndsOfCallers(session->get());
}

// Of a key above 100 the answer comes at once, of others from the table.
constexpr char kLookUp[] = R"(
func @is_known(%x: i64[]) -> (bool[]) {
  %most = constant {value = i64[] {100}} : i64[]
  %is = greater(%x, %most) : bool[]
  return %is
}
flow @look_up {
  %in = input() {types = ["i64[]"]}
  %table = input() {types = ["i64[]"]}
  %known = filter(%in) {function = "is_known"}
  %found = semijoin(%in, %table) {keys = 1, state = "job"}
  %all = concat(%known, %found)
  %out = output(%all)
  %both = concat(%in, %table)
  %mixed = output(%both)
  %only = output(%table)
})";

TEST(FlowCalls, AreAnsweredOrRefusedWhileAnotherInputIsOpen) {
  const std::shared_ptr<Session> session = Here();
  v1::CallFlowRequest request;
  request.set_id(Deploy(session.get(), kLookUp));
  request.set_input("in");
  request.set_output("out");
  const auto call = [&](int64_t key) {
    return session->CallFlow(request, {Tensor::Scalar<int64_t>(key)});
  };
  const absl::Time deadline = absl::Now() + absl::Seconds(60);

  // A result that is there waits for nobody; what follows from the table cannot be known yet.
  ASSERT_TRUE(call(101).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(call(1).status())) << call(1).status();
  EXPECT_THAT(std::string(ToStd(call(1).status().message())),
              HasSubstr("depends on input 'table', which is open at epoch 0"));
  ASSERT_TRUE(call(102).ok());

  const auto feeder = DeployedFlow::Attach(
      session, request.id(),
      {.inputs = std::vector<std::string>{"table"}, .outputs = std::vector<std::string>{}},
      deadline);
  ASSERT_TRUE(feeder.ok()) << feeder.status();
  ASSERT_TRUE((*feeder)->Send("table", 0, {Tensor::Of<int64_t>({2}, {1, 2})}, deadline).ok());
  ASSERT_TRUE((*feeder)->Advance("table", 1).ok());
  EXPECT_THAT(std::string(ToStd(call(1).status().message())), HasSubstr("open at epoch 1"));
  ASSERT_TRUE((*feeder)->CloseInput("table").ok());
  EXPECT_TRUE(call(1).ok()) << call(1).status();
  EXPECT_TRUE(absl::IsNotFound(call(3).status())) << call(3).status();
}

TEST(FlowCalls, AreRefusedWhereAnswersCouldNotBeTold) {
  const std::shared_ptr<Session> session = Here();
  v1::CallFlowRequest request;
  request.set_id(Deploy(session.get(), kLookUp));
  request.set_input("in");
  request.set_output("mixed");
  const Tensor key = Tensor::Scalar<int64_t>(1);
  EXPECT_THAT(std::string(ToStd(session->CallFlow(request, {key}).status().message())),
              HasSubstr("records of 'table' (input) come out of output 'mixed' too"));
  request.set_output("only");
  EXPECT_THAT(std::string(ToStd(session->CallFlow(request, {key}).status().message())),
              HasSubstr("no record that comes out of output 'only' comes of one of input 'in'"));
  // A semijoin has the origins of its left records.
  request.set_input("table");
  request.set_output("out");
  EXPECT_TRUE(absl::IsInvalidArgument(session->CallFlow(request, {key}).status()));
}

TEST(FlowCalls, WhatIsWrongIsSaid) {
  const std::shared_ptr<Session> session = Here();
  v1::CallFlowRequest request;
  request.set_id("nowhere");
  EXPECT_TRUE(absl::IsNotFound(session->CallFlow(request, {Record(1)}).status()));
  request.set_id(Deploy(session.get()));
  request.set_input("inn");
  EXPECT_THAT(std::string(ToStd(session->CallFlow(request, {Record(1)}).status().message())),
              HasSubstr("no input 'inn'"));
  request.clear_input();
  ASSERT_TRUE(session->CallFlow(request, {Record(1)}).ok());
  EXPECT_THAT(
      std::string(ToStd(session->CallFlow(request, {Tensor::Scalar(1.0f)}).status().message())),
      HasSubstr("the record is (f32[]); input 'in' takes (f32[2])"));
  // Nobody else is worse off, until the flow ends.
  EXPECT_TRUE(session->CallFlow(request, {Record(2)}).ok());
  ASSERT_TRUE(session->Cancel(request.id()).ok());
  ASSERT_TRUE(session->Wait(request.id(), absl::Minutes(5)).ok());
  EXPECT_FALSE(session->CallFlow(request, {Record(1)}).ok());
}

}  // namespace
}  // namespace weir
