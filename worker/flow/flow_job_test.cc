// One of two workers, with a loop in which no frame changes workers, as messages drive it.
#include "worker/flow/flow_job.h"

#include <gtest/gtest.h>

#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/plan/progress_wire.h"
#include "common/timely/tracker.h"

namespace weir {
namespace {

constexpr char kFlow[] = R"(
flow @local {
  loop @trips
  %in = input() {types = ["i64[]"]}
  %inside = enter(%in) {loop = "trips"}
  %moved = exchange(%inside) {keys = 1}
  %all = concat(%moved, %again)
  %again = feedback(%all) {bound = 2}
  %left = leave(%all)
  %out = output(%left)
}
)";

class Silence final : public FlowOutbox {
 public:
  void SendToCoordinator(const v1::WorkerMessage&, std::vector<Tensor>) override {}
  void SendToPeer(const v1::Peer&, const v1::PeerMessage& message, std::vector<Tensor>) override {
    peer_frames += message.has_flow_frame() ? 1 : 0;
  }
  bool HasRoom(const v1::Peer&) override { return has_room; }

  int peer_frames = 0;
  bool has_room = true;
};

constexpr uint64_t kWorkers[] = {11, 12};  // by rank

class FlowJobTest : public ::testing::Test {
 protected:
  FlowJobTest()
      : flow_(std::make_shared<Flow>(*ParseFlow(kFlow))),
        topology_(*Topology::Of(GraphOf(*flow_))) {
    FlowSetup setup;
    setup.job = setup.generation = 1;
    setup.peers.resize(2);
    for (uint64_t rank = 0; rank < 2; ++rank) setup.peers[rank].set_worker_id(kWorkers[rank]);
    setup.flow = flow_;
    setup.topology = topology_;
    setup.grants.set_first_update(1);
    const LocationId in = topology_->output(flow_->FindVertex("in"), 0);
    PackChanges({{{in, {0}}, 1}}, setup.grants.mutable_changes());
    job_ = *FlowJob::Make(std::move(setup), &silence_);
    Tracker tracker(topology_);
    tracker.Update(in, {0}, 2);
    const absl::Span<const Change> changes = tracker.Propagate();
    EXPECT_EQ(job_->OnFrontiers(ToWire(FrontierUpdate{1, {changes.begin(), changes.end()}})),
              absl::OkStatus());
  }

  // The other worker sends one record to 'moved'.
  absl::Status FrameComes() {
    const RecordBatch batch = {.columns = {Tensor::Zeros(DType::kI64, {1})},
                               .origins = Tensor::Zeros(DType::kI64, {1})};
    v1::FlowFrame frame;
    frame.set_from_rank(1);
    frame.set_number(++frames_);
    frame.set_vertex(static_cast<uint32_t>(flow_->FindVertex("moved").value()));
    *frame.mutable_time() = ToWire(Timestamp{0, 0});
    *frame.mutable_batch() = HeaderOf(batch);
    return job_->OnFrame(frame, PayloadsOf(batch));
  }

  // The client sends records with the keys of both workers.
  absl::Status Feed() {
    constexpr int64_t kRecords = 100;
    Tensor keys(DType::kI64, {kRecords});
    for (int64_t i = 0; i < kRecords; ++i) keys.mutable_data<int64_t>()[i] = i;
    const RecordBatch batch = {.columns = {keys}, .origins = keys};
    v1::FeedFlow feed;
    feed.set_vertex(static_cast<uint32_t>(flow_->FindVertex("in").value()));
    *feed.mutable_batch() = HeaderOf(batch);
    return job_->OnFeed(feed, PayloadsOf(batch), absl::UnixEpoch());
  }
  int64_t QueuedAt(std::string_view vertex) {
    return job_->slot(flow_->FindVertex(vertex)).queued_frames();
  }

  // Returns: how many calls there were.
  int RunAll() {
    for (int calls = 0;; ++calls) {
      const auto call = job_->TakeCall(absl::UnixEpoch());
      EXPECT_EQ(call.status(), absl::OkStatus());
      if (!call.ok() || *call == nullptr) return calls;
      RunFlowCall(call->get());
      EXPECT_EQ(job_->OnCallDone(call->get(), absl::UnixEpoch()), absl::OkStatus());
    }
  }

  const std::shared_ptr<const Flow> flow_;
  const std::shared_ptr<const Topology> topology_;
  Silence silence_;
  std::unique_ptr<FlowJob> job_;
  uint64_t frames_ = 0;
};

TEST_F(FlowJobTest, WhatOneFrameHasDoneDoesNotCompleteTheTimeForTheNext) {
  ASSERT_EQ(FrameComes(), absl::OkStatus());
  const int calls = RunAll();
  EXPECT_GT(calls, 3);
  // The coordinator's frontier has not moved: the other worker may send more.
  ASSERT_EQ(FrameComes(), absl::OkStatus());
  EXPECT_EQ(RunAll(), calls);
}

TEST_F(FlowJobTest, InsideOfALoopTooAFullLinkHoldsUpWhoSendsOnIt) {
  silence_.has_room = false;
  ASSERT_EQ(Feed(), absl::OkStatus());
  RunAll();
  EXPECT_EQ(silence_.peer_frames, 1) << "what found room was sent";
  ASSERT_EQ(Feed(), absl::OkStatus());
  ASSERT_EQ(Feed(), absl::OkStatus());
  RunAll();
  EXPECT_EQ(QueuedAt("inside"), 2) << "records for the other worker would wait in memory";
  EXPECT_EQ(silence_.peer_frames, 1);
  // Nobody else waits: what is here goes its way, and what comes is taken.
  ASSERT_EQ(FrameComes(), absl::OkStatus());
  EXPECT_GT(RunAll(), 3);

  silence_.has_room = true;
  job_->OnPeerRoom(kWorkers[0]);
  EXPECT_EQ(RunAll(), 0) << "that was the link to another worker";
  job_->OnPeerRoom(kWorkers[1]);
  EXPECT_GT(RunAll(), 0);
  EXPECT_EQ(QueuedAt("inside"), 0);
  EXPECT_GT(silence_.peer_frames, 1);
}

}  // namespace
}  // namespace weir
