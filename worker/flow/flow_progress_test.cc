// One worker of two, with a loop in which no frame changes workers: what may still come inside
// follows from its own counts and what may enter.
#include "worker/flow/flow_progress.h"

#include <gtest/gtest.h>

#include "common/flow/flow_text.h"
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
  %again = feedback(%all)
  %left = leave(%all)
  %out = output(%left)
}
)";

class FlowProgressTest : public ::testing::Test {
 protected:
  FlowProgressTest()
      : flow_(*ParseFlow(kFlow)),
        topology_(*Topology::Of(GraphOf(flow_))),
        progress_(flow_, topology_, 2, 1, 1) {
    tracker_.emplace(topology_);
    v1::ProgressGrants grants;
    grants.set_first_update(1);
    PackChanges({{{Output("in"), {0}}, 1}}, grants.mutable_changes());
    EXPECT_EQ(progress_.Grant(grants), absl::OkStatus());
    tracker_->Update(Output("in"), {0}, 2);
    Tell();
  }

  LocationId Input(std::string_view name, int input = 0) const {
    return topology_->input(flow_.FindVertex(name), input);
  }
  LocationId Output(std::string_view name) const {
    return topology_->output(flow_.FindVertex(name), 0);
  }
  // The coordinator says how its frontiers have moved.
  void Tell() {
    const absl::Span<const Change> changes = tracker_->Propagate();
    const FrontierUpdate update = {++updates_, {changes.begin(), changes.end()}};
    EXPECT_EQ(progress_.Apply(ToWire(update)), absl::OkStatus());
    progress_.TakeMoved();
  }
  // Nothing can enter any more before the frame at 'moved' is taken.
  void CloseInput() {
    tracker_->Update(Output("in"), {0}, -2);
    tracker_->Update(Input("moved"), {0, 0}, 1);
    Tell();
  }
  bool IsComplete(std::string_view name, const Timestamp& time, int input = 0) {
    progress_.TakeMoved();
    return progress_.IsComplete(flow_.FindVertex(name), input, time);
  }

  const Flow flow_;
  const std::shared_ptr<const Topology> topology_;
  FlowProgress progress_;
  std::optional<Tracker> tracker_;
  int64_t updates_ = 0;
};

TEST_F(FlowProgressTest, WhatMayEnterMayCome) {
  EXPECT_FALSE(IsComplete("all", {0, 0}));
  CloseInput();
  EXPECT_FALSE(IsComplete("all", {0, 0}));
  EXPECT_FALSE(IsComplete("left", {0, 5}));
}

TEST_F(FlowProgressTest, TripsNeedNoRoundTrip) {
  CloseInput();
  progress_.Arrived(Input("moved"), {0, 0});
  // It is taken and goes on: the coordinator knows, and says that nothing enters any more.
  const FlowChange taken[] = {{Input("moved"), {0, 0}, -1}, {Input("all"), {0, 0}, 1}};
  ASSERT_EQ(progress_.Report(taken, absl::UnixEpoch()), absl::OkStatus());
  tracker_->Update(Input("moved"), {0, 0}, -1);
  tracker_->Update(Input("all"), {0, 0}, 1);
  Tell();
  EXPECT_FALSE(IsComplete("all", {0, 0}));
  EXPECT_TRUE(IsComplete("moved", {0, 7}));
  // From here on the coordinator says nothing.
  for (int64_t trip = 0; trip < 3; ++trip) {
    const int input = trip == 0 ? 0 : 1;
    EXPECT_FALSE(IsComplete("left", {0, trip}));
    const FlowChange turn[] = {{Input("all", input), {0, trip}, -1},
                               {Input("again"), {0, trip}, 1}};
    ASSERT_EQ(progress_.Report(turn, absl::UnixEpoch()), absl::OkStatus());
    EXPECT_TRUE(IsComplete("left", {0, trip}));
    EXPECT_FALSE(IsComplete("all", {0, trip + 1}, 1));
    const FlowChange back[] = {{Input("again"), {0, trip}, -1},
                               {Input("all", 1), {0, trip + 1}, 1}};
    ASSERT_EQ(progress_.Report(back, absl::UnixEpoch()), absl::OkStatus());
    EXPECT_TRUE(IsComplete("all", {0, trip}, 1));
    EXPECT_FALSE(IsComplete("all", {0, trip + 1}, 1));
  }
}

TEST_F(FlowProgressTest, AFrameOfAnotherWorkerIsOutstandingUntilItIsTaken) {
  CloseInput();
  progress_.Arrived(Input("moved"), {0, 0});
  progress_.Arrived(Input("moved"), {0, 0});
  tracker_->Update(Input("moved"), {0, 0}, -1);  // the coordinator has heard of less
  Tell();
  const FlowChange one[] = {{Input("moved"), {0, 0}, -1}};
  ASSERT_EQ(progress_.Report(one, absl::UnixEpoch()), absl::OkStatus());
  EXPECT_FALSE(IsComplete("all", {0, 0}));
  ASSERT_EQ(progress_.Report(one, absl::UnixEpoch()), absl::OkStatus());
  EXPECT_TRUE(IsComplete("all", {0, 0}));
}

TEST_F(FlowProgressTest, AFrameForAnotherWorkerIsNotOutstandingHere) {
  const FlowChange sent[] = {{Input("inside"), {0}, 1}};
  ASSERT_EQ(progress_.Report(sent, absl::UnixEpoch()), absl::OkStatus());
  const FlowChange entered[] = {
      {Input("inside"), {0}, -1},
      {Input("moved"), {0, 0}, 1, FlowChange::At::kElsewhere},
      {Output("in"), {0}, -1},
  };
  ASSERT_EQ(progress_.Report(entered, absl::UnixEpoch()), absl::OkStatus());
  tracker_->Update(Output("in"), {0}, -2);  // the other worker has taken it, and all is over
  Tell();
  EXPECT_TRUE(IsComplete("all", {0, 0}));
}

TEST_F(FlowProgressTest, WhatNothingHeldLeadsToIsAnErrorAndChangesNothing) {
  const FlowChange wrong[] = {
      {Input("out"), {0}, 1}, {Input("all"), {0, 0}, -1}, {Output("again"), {0, 0}, 1}};
  EXPECT_FALSE(progress_.Report(wrong, absl::UnixEpoch()).ok());
  EXPECT_FALSE(progress_.Flush().has_value());
}

}  // namespace
}  // namespace weir
