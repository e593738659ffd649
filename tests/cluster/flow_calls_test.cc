// Calls of one record into a deployed flow, by many threads at once: each answer is that of its own
// record, whoever else is in the epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

std::string Deploy(Session* session) {
  v1::DeployRequest request;
  request.set_flow(kDouble);
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
