// Flows on simulated clusters of one to four workers, under any timing.
#include "tests/cluster/flow_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/flow/flow_wire.h"
#include "common/flow/reference_flow.h"
#include "common/flow/scratch_directory_testing.h"
#include "tests/cluster/example_flows.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

RecordBatch Numbers(int64_t first, int64_t count, int64_t origin) {
  Tensor numbers(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) numbers.mutable_data<int64_t>()[i] = first + i;
  return MakeBatch({numbers}, origin);
}

int64_t TripsOf(int64_t n) {
  int64_t trips = 0;
  for (; n > 1; ++trips) n = n % 2 == 1 ? 3 * n + 1 : n / 2;
  return trips;
}

TEST(FlowSimulation, ALoopOverWorkersEndsWithWhatASequentialOneGives) {
  const std::shared_ptr<const Flow> flow = FlowOf(kCollatz);
  const VertexId input = flow->FindVertex("numbers");
  const VertexId output = flow->FindVertex("out");
  for (int workers = 1; workers <= 4; ++workers) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("workers " + std::to_string(workers) + ", seed " + std::to_string(seed));
      FlowSimulation cluster(flow, {.workers = workers, .seed = seed});
      cluster.Feed({{input, 0, Numbers(1, 5, 0)},
                    {input, 0, Numbers(6, 5, 5)},
                    {input, 1, std::nullopt},
                    {input, 3, std::nullopt},
                    {input, 3, Numbers(27, 1, 0)}});
      cluster.Run();
      ASSERT_EQ(cluster.failure(), absl::OkStatus());
      ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
      const RecordBatch first =
          MultisetOf(cluster.outputs().at(output).at(0), flow->vertex(output).input_types[0]);
      ASSERT_EQ(first.size(), 10);
      for (int64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(first.origin(i), i);
        EXPECT_EQ(first.columns[1].At<int64_t>({i}), TripsOf(i + 1));
      }
      EXPECT_EQ(cluster.outputs().at(output).at(3)[0].columns[1].At<int64_t>({0}), 111);
      if (workers > 1) {
        EXPECT_GT(cluster.peer_frames(), 0);
      }
    }
  }
}

// A flow under way: numbers 1..40 in one epoch, and what a sequential run gives for them.
class CollatzRun {
 public:
  explicit CollatzRun(FlowSimulation::Options options)
      : flow(FlowOf(kCollatz)), cluster(flow, options) {
    const VertexId input = flow->FindVertex("numbers");
    cluster.Feed({{input, 0, Numbers(1, 20, 0)}, {input, 0, Numbers(21, 20, 20)}});
  }

  std::vector<int64_t> Trips() const {
    const VertexId output = flow->FindVertex("out");
    const auto epochs = cluster.outputs().find(output);
    if (epochs == cluster.outputs().end()) return {};
    const RecordBatch all =
        Sorted(ConcatBatches(epochs->second.at(0), flow->vertex(output).input_types[0]));
    const int64_t* trips = all.columns[1].data<int64_t>();
    return {trips, trips + all.size()};
  }
  static std::vector<int64_t> Expected() {
    std::vector<int64_t> trips;
    for (int64_t n = 1; n <= 40; ++n) trips.push_back(TripsOf(n));
    return trips;
  }

  std::shared_ptr<const Flow> flow;
  FlowSimulation cluster;
};

TEST(FlowSimulation, AChannelOfOneByteHoldsNothingUp) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CollatzRun run({.workers = 3, .seed = seed, .channel_bytes = 1});
    run.cluster.Run();
    ASSERT_EQ(run.cluster.failure(), absl::OkStatus());
    EXPECT_EQ(run.cluster.progress().state(), JobProgress::State::kCompleted);
    EXPECT_EQ(run.Trips(), CollatzRun::Expected());
  }
}

// Each frame fills its link, in both directions at the same time, and what waits lies on disk.
TEST(FlowSimulation, LinksThatOneFrameFillsHoldNoLoopUp) {
  for (int workers = 2; workers <= 4; ++workers) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("workers " + std::to_string(workers) + ", seed " + std::to_string(seed));
      CollatzRun run({.workers = workers,
                      .seed = seed,
                      .channel_bytes = 1,
                      .link_bytes = 1,
                      .memory_bytes = 1});
      run.cluster.Run();
      ASSERT_EQ(run.cluster.failure(), absl::OkStatus());
      EXPECT_EQ(run.cluster.progress().state(), JobProgress::State::kCompleted);
      EXPECT_EQ(run.Trips(), CollatzRun::Expected());
    }
  }
}

// One frame at a time on each channel and link, on 1 to 3 workers, with `seeds` schedules each.
void ExpectUnderAnySchedule(const std::shared_ptr<const Flow>& flow,
                            const std::vector<FeedStep>& steps, const ReferenceFlowResult& expected,
                            uint64_t seeds) {
  for (int workers = 1; workers <= 3; ++workers) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE("workers " + std::to_string(workers) + ", seed " + std::to_string(seed));
      FlowSimulation cluster(
          flow, {.workers = workers, .seed = seed, .channel_bytes = 1, .link_bytes = 1});
      cluster.Feed(steps);
      cluster.Run();
      ASSERT_EQ(cluster.failure(), absl::OkStatus());
      ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
      EXPECT_EQ(ToString(cluster.NamedOutputs()), ToString(expected.outputs));
    }
  }
}

// Numbers go down by one from epoch to epoch, in a cycle outside of loops. More of them are under
// way than its channels hold, so whoever waited for room in it would wait for ever.
constexpr char kDown[] = R"(
func @less(%n: i64[]) -> (i64[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %next = subtract(%n, %one) : i64[]
  return %next
}
func @is(%n: i64[]) -> (bool[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  %is = greater(%n, %zero) : bool[]
  return %is
}
flow @down {
  %numbers = input() {types = ["i64[]"]}
  %all = concat(%numbers, %later)
  %next = map(%all) {function = "less"}
  %some = filter(%next) {function = "is"}
  %moved = exchange(%some) {keys = 1}
  %later = delay(%moved) {epochs = 1}
  %out = output(%all)
}
)";

TEST(FlowSimulation, ACycleThroughEpochsDoesNotWaitForItself) {
  const std::shared_ptr<const Flow> flow = FlowOf(kDown);
  const VertexId input = flow->FindVertex("numbers");
  std::vector<FeedStep> steps;
  FlowInputs inputs;
  for (int64_t i = 0; i < 30; ++i) {
    steps.push_back({input, 0, Numbers(5 + i % 3, 1, i)});
    inputs["numbers"].push_back({0, *steps.back().batch});
  }
  const auto expected = RunReferenceFlow(*flow, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(expected->outputs.at("out").size(), 7u);
  ExpectUnderAnySchedule(flow, steps, *expected, 8);
}

// Messages of one worker that nobody hears.
class NoOutbox : public FlowTableOutbox {
 public:
  void SendToCoordinator(const v1::WorkerMessage&, std::vector<Tensor>) override {}
  void SendToPeer(const v1::Peer&, const v1::PeerMessage&, std::vector<Tensor>) override {}
  void RunCall(std::unique_ptr<FlowCall>) override {}
  void WorkSoon() override {}
};

// A worker may be told to begin, and send, before another one has heard of the flow.
TEST(FlowSimulation, FramesThatComeBeforeTheFlowWaitForIt) {
  const std::shared_ptr<const Flow> flow = FlowOf(R"(
flow @counting {
  %numbers = input() {types = ["i64[]"]}
  %counts = count(%numbers) {keys = 1}
  %result = output(%counts)
}
)");
  const RecordBatch batch = Numbers(1, 5, 0);
  NoOutbox outbox;
  FlowTable table("w1", 1, &outbox);
  v1::PeerMessage message;
  v1::FlowFrame* frame = message.mutable_flow_frame();
  frame->set_job(7);
  frame->set_generation(1);
  frame->set_number(1);
  frame->set_vertex(static_cast<uint32_t>(flow->FindVertex("counts").value()));
  *frame->mutable_time() = ToWire(Timestamp{0});
  *frame->mutable_batch() = HeaderOf(batch);
  table.OnPeerMessage(message, PayloadsOf(batch), absl::UnixEpoch());
  EXPECT_EQ(table.early_flows(), 1u);
  FlowSetup setup;
  setup.job = 7;
  setup.generation = 1;
  setup.rank = 1;
  setup.peers.resize(2);
  setup.flow = flow;
  setup.topology = *Topology::Of(GraphOf(*flow));
  JobProgress::Setup job;
  job.job = 7;
  job.generation = 1;
  JobProgress progress(job, setup.topology, absl::UnixEpoch());
  setup.grants = progress.Join(1, "w1", absl::UnixEpoch())->grants;
  const std::shared_ptr<const std::atomic<bool>> cancelled = setup.cancelled;
  table.Deploy(7, 1, std::move(setup), absl::UnixEpoch());
  EXPECT_EQ(table.early_flows(), 0u);
  ASSERT_NE(table.FindJob(7, 1), nullptr);
  EXPECT_EQ(table.FindJob(7, 1)->queued_bytes(), batch.bytes());
  // Functions under way would go on without end, and a worker that stops waits for them.
  EXPECT_FALSE(cancelled->load());
  table.Clear();
  EXPECT_TRUE(cancelled->load());
}

// Invariant 27.
TEST(FlowSimulation, NothingComesOutAfterACancelAndNothingIsKept) {
  int cancelled_under_way = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CollatzRun run({.workers = 3, .seed = seed});
    for (uint64_t step = 0; step < seed * 10 && run.cluster.Step();) ++step;
    const size_t before = run.Trips().size();
    if (run.cluster.progress().state() == JobProgress::State::kRunning) ++cancelled_under_way;
    run.cluster.Cancel();
    run.cluster.Run();
    EXPECT_EQ(run.Trips().size(), before);
    EXPECT_EQ(run.cluster.sent_after_stop(), 0);
    if (run.cluster.progress().state() == JobProgress::State::kCompleted) continue;
    EXPECT_EQ(run.cluster.progress().state(), JobProgress::State::kCancelled);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(run.cluster.table(rank).empty());
      EXPECT_EQ(run.cluster.table(rank).early_flows(), 0u);
    }
  }
  EXPECT_GT(cancelled_under_way, 30);
}

// Invariant 17: each way in which the network may break its promise is noticed, never a wrong
// result.
class BrokenMail : public ::testing::TestWithParam<const char*> {};

TEST_P(BrokenMail, IsNoticed) {
  const std::string kind = GetParam();
  int broken = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CollatzRun run({.workers = 2, .seed = seed});
    bool done = false;
    while (run.cluster.Step()) {
      std::deque<PeerMail>& mail = run.cluster.mail(0, 1);
      if (done || mail.size() < 2 || !mail[0].message.has_flow_frame() ||
          !mail[1].message.has_flow_frame()) {
        continue;
      }
      if (kind == "twice") mail.push_front(mail[0]);
      if (kind == "lost") mail.pop_front();
      if (kind == "overtaken") std::swap(mail[0], mail[1]);
      done = true;
    }
    if (!done) continue;
    ++broken;
    EXPECT_THAT(run.cluster.failure().message(), HasSubstr("frame"));
    EXPECT_EQ(run.cluster.progress().state(), JobProgress::State::kCancelled);
  }
  EXPECT_GT(broken, 3);
}

INSTANTIATE_TEST_SUITE_P(All, BrokenMail, ::testing::Values("twice", "lost", "overtaken"),
                         [](const auto& info) { return std::string(info.param); });

constexpr char kChecked[] = R"(
func @positive(%n: i64[]) -> (i64[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  %is = greater(%n, %zero) : bool[]
  !0 = check(%is) {message = "numbers are positive"}
  return %n
}
flow @checked {
  %numbers = input() {types = ["i64[]"]}
  %good = map(%numbers) {function = "positive", on_failure = "stop"} loc("model.py":12:3)
  %result = output(%good)
}
)";

TEST(FlowSimulation, AFailingRecordCanFailAlone) {
  std::string text = kChecked;
  text.replace(text.find("\"stop\""), 6, "\"drop\"");
  const std::shared_ptr<const Flow> flow = FlowOf(text);
  const VertexId input = flow->FindVertex("numbers");
  FlowSimulation cluster(flow, {.workers = 2, .seed = 3});
  cluster.Feed({{input, 0, Numbers(-2, 8, 0)}});
  cluster.Run();
  ASSERT_EQ(cluster.failure(), absl::OkStatus());
  const auto expected = RunReferenceFlow(*flow, {{"numbers", {{0, Numbers(-2, 8, 0)}}}});
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(ToString(cluster.NamedOutputs()), ToString(expected->outputs));
  std::map<int64_t, std::string> failed;
  for (const v1::FlowRecordFailed& record : cluster.failed_records()) {
    failed[record.origin()] = record.failure().message();
  }
  ASSERT_EQ(failed.size(), 3u);
  EXPECT_THAT(failed[2], ::testing::AllOf(HasSubstr("model.py:12:3: 'good' (map)"),
                                          HasSubstr("numbers are positive")));
}

TEST(FlowSimulation, AFailingFunctionNamesVertexTimeAndPlace) {
  const std::shared_ptr<const Flow> flow = FlowOf(kChecked);
  const VertexId input = flow->FindVertex("numbers");
  FlowSimulation cluster(flow, {.workers = 2, .seed = 3});
  cluster.Feed({{input, 4, std::nullopt}, {input, 4, Numbers(-1, 3, 0)}});
  cluster.Run();
  EXPECT_THAT(cluster.failure().message(),
              ::testing::AllOf(HasSubstr("model.py:12:3: 'good' (map) at time (4)"),
                               HasSubstr("numbers are positive")));
  EXPECT_EQ(cluster.progress().state(), JobProgress::State::kCancelled);
}

TEST(FlowSimulation, ATimeOfManyRecordsComesInPieces) {
  const std::shared_ptr<const Flow> flow = FlowOf(R"(
flow @many {
  %numbers = input() {types = ["i64[]"]}
  %counts = count(%numbers) {keys = 1}
  %result = output(%counts)
}
)");
  const VertexId input = flow->FindVertex("numbers");
  constexpr int64_t kMany = 200'000;
  FlowSimulation cluster(flow, {.workers = 2, .seed = 5});
  cluster.Feed({{input, 0, Numbers(0, kMany, 0)}, {input, 1, std::nullopt}});
  cluster.Run();
  ASSERT_EQ(cluster.failure(), absl::OkStatus());
  EXPECT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
  const auto& batches = cluster.outputs().at(flow->FindVertex("result")).at(0);
  int64_t records = 0;
  for (const RecordBatch& batch : batches) records += batch.size();
  EXPECT_EQ(records, kMany);
  EXPECT_GT(batches.size(), 2u);
}

class ValueFlow : public ::testing::TestWithParam<std::string> {};

TEST_P(ValueFlow, GivesWhatTheOracleGivesUnderAnyTiming) {
  const std::shared_ptr<const Flow> flow = FlowOf(GetParam());
  VertexId input;
  for (const FlowVertex& vertex : flow->vertices) {
    if (vertex.kind == "input") input = flow->FindVertex(vertex.name);
  }
  FlowInputs inputs;
  std::vector<FeedStep> steps;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    if (epoch > 0) steps.push_back({input, epoch, std::nullopt});
    for (int64_t part = 0; part < 3; ++part) {
      const RecordBatch batch = Numbers(2 + epoch * 5 + part * 7, 7, part * 7);
      inputs[flow->vertex(input).name].push_back({epoch, batch});
      steps.push_back({input, epoch, batch});
    }
  }
  const auto expected = RunReferenceFlow(*flow, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ExpectUnderAnySchedule(flow, steps, *expected, 10);
}

INSTANTIATE_TEST_SUITE_P(All, ValueFlow, ::testing::Values(kPowers, TwoEntries()));

TEST(ValueFlow, TwoValuesOfOneExampleAtOneTimeAreAnError) {
  const std::shared_ptr<const Flow> flow = FlowOf(R"(
flow @twice {
  %xs = input() {types = ["i64[]"]}
  %more = concat(%xs, %xs)
  %both = zip(%more, %xs)
  %out = output(%both)
}
)");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FlowSimulation cluster(flow, {.workers = 2, .seed = seed});
    cluster.Feed({{flow->FindVertex("xs"), 0, Numbers(5, 1, 3)}});
    cluster.Run();
    EXPECT_THAT(
        cluster.failure().message(),
        HasSubstr("'both' (zip) at time (0): input 0 has more than one record of origin 3"));
  }
}

TEST(FlowSimulation, EpochsAreCompleteWhileASourceReadsOn) {
  const ScratchDirectory scratch;
  constexpr int64_t kRows = 12;
  for (const char* name : {"a.csv", "b.csv", "c.csv"}) {
    std::string text;
    for (int64_t row = 0; row < kRows; ++row) StrAppend(&text, row, "\n");
    scratch.Write(name, text);
  }
  const auto flow =
      FlowOf(StrCat("flow @f {\n %in = read_files() {glob = \"", scratch.path(),
                    "/*.csv\", types = [\"i64[]\"], rows = 1}\n", " %out = output(%in)\n}"));
  const VertexId out = flow->FindVertex("out");
  std::set<int64_t> open;  // epochs that were the first to be open, in some run
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FlowSimulation cluster(flow, {.workers = static_cast<int>(1 + seed % 3), .seed = seed});
    const JobProgress& progress = cluster.progress();
    while (cluster.Step()) {
      if (progress.state() != JobProgress::State::kRunning) continue;
      const LocationId input = progress.topology().input(out, 0);
      for (const Timestamp& time : progress.tracker().frontier(input)) open.insert(time.epoch());
    }
    EXPECT_EQ(progress.state(), JobProgress::State::kCompleted);
    EXPECT_EQ(cluster.failure(), absl::OkStatus());
  }
  EXPECT_EQ(open.size(), static_cast<size_t>(kRows));
}

}  // namespace
}  // namespace weir
