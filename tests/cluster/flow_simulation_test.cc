// Flows on simulated clusters of one to four workers, under any timing.
#include "tests/cluster/flow_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/flow/scratch_directory_testing.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Flow> FlowOf(std::string_view text) {
  auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  return std::make_shared<const Flow>(*std::move(flow));
}

// Collatz: trips until a number is 1; what comes out says how many it took.
constexpr char kCollatz[] = R"(
func @start(%n: i64[]) -> (i64[], i64[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  return %n, %zero
}
func @step(%n: i64[], %trips: i64[]) -> (i64[], i64[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %two = constant {value = i64[] {2}} : i64[]
  %three = constant {value = i64[] {3}} : i64[]
  %half = floor_divide(%n, %two) : i64[]
  %rest = floor_mod(%n, %two) : i64[]
  %odd = equal(%rest, %one) : bool[]
  %triple = multiply(%n, %three) : i64[]
  %up = add(%triple, %one) : i64[]
  %next = select(%odd, %up, %half) : i64[]
  %count = add(%trips, %one) : i64[]
  return %next, %count
}
func @going(%n: i64[], %trips: i64[]) -> (bool[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %is = greater(%n, %one) : bool[]
  return %is
}
func @done(%n: i64[], %trips: i64[]) -> (bool[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %is = less_equal(%n, %one) : bool[]
  return %is
}
flow @collatz {
  loop @trips
  %numbers = input() {types = ["i64[]"]}
  %pairs = map(%numbers) {function = "start"}
  %inside = enter(%pairs) {loop = "trips"}
  %all = concat(%inside, %again)
  %some = filter(%all) {function = "going"}
  %moved = exchange(%some) {keys = 1}
  %next = map(%moved) {function = "step"}
  %again = feedback(%next)
  %ready = filter(%all) {function = "done"}
  %out = leave(%ready)
  %result = output(%out)
}
)";

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
  const VertexId output = flow->FindVertex("result");
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
    const VertexId output = flow->FindVertex("result");
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

// Steps of one value each, as TensorFlow's control flow ops make them: y = x; while y < 1000: y = y
// * x. The x of each example is held for all trips; nothing dead circulates.
constexpr char kPowers[] = R"(
func @small(%y: i64[]) -> (bool[]) {
  %limit = constant {value = i64[] {1000}} : i64[]
  %is = less(%y, %limit) : bool[]
  return %is
}
func @times(%y: i64[], %x: i64[]) -> (i64[]) {
  %next = multiply(%y, %x) : i64[]
  return %next
}
flow @powers {
  loop @trips
  %xs = input() {types = ["i64[]"]}
  %y0 = enter(%xs) {loop = "trips"}
  %x = enter(%xs) {loop = "trips"}
  %y = concat(%y0, %next)
  %go, %stop = switch(%y) {function = "small"}
  %both = zip(%go, %x) {hold = [1]}
  %more = map(%both) {function = "times"}
  %next = feedback(%more)
  %result = leave(%stop)
  %out = output(%result)
}
)";

// A cycle with two entries: odd numbers begin behind the halving, even ones in front of it.
constexpr char kIrreducible[] = R"(
func @even(%n: i64[]) -> (bool[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %two = constant {value = i64[] {2}} : i64[]
  %rest = floor_mod(%n, %two) : i64[]
  %is = less(%rest, %one) : bool[]
  return %is
}
func @halve(%n: i64[]) -> (i64[]) {
  %two = constant {value = i64[] {2}} : i64[]
  %half = floor_divide(%n, %two) : i64[]
  return %half
}
func @less_one(%n: i64[]) -> (i64[]) {
  %one = constant {value = i64[] {1}} : i64[]
  %next = subtract(%n, %one) : i64[]
  return %next
}
func @positive(%n: i64[]) -> (bool[]) {
  %zero = constant {value = i64[] {0}} : i64[]
  %is = greater(%n, %zero) : bool[]
  return %is
}
flow @irreducible {
  loop @trips
  %n = input() {types = ["i64[]"]}
  %inside = enter(%n) {loop = "trips"}
  %even, %odd = switch(%inside) {function = "even"}
  %to_halve = concat(%even, %again)
  %moved = exchange(%to_halve) {keys = 1}
  %halved = map(%moved) {function = "halve"}
  %to_count = concat(%odd, %halved)
  %counted = map(%to_count) {function = "less_one"}
  %go, %stop = switch(%counted) {function = "positive"}
  %again = feedback(%go)
  %result = leave(%stop)
  %out = output(%result)
}
)";

class ValueFlow : public ::testing::TestWithParam<const char*> {};

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
  for (int workers = 1; workers <= 3; ++workers) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE("workers " + std::to_string(workers) + ", seed " + std::to_string(seed));
      FlowSimulation cluster(flow, {.workers = workers, .seed = seed, .channel_bytes = 1});
      cluster.Feed(steps);
      cluster.Run();
      ASSERT_EQ(cluster.failure(), absl::OkStatus());
      ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
      EXPECT_EQ(ToString(cluster.NamedOutputs()), ToString(expected->outputs));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ValueFlow, ::testing::Values(kPowers, kIrreducible),
                         [](const auto& info) {
                           return std::string(info.param == kPowers ? "Powers" : "Irreducible");
                         });

TEST(ValueFlow, TwoValuesOfOneExampleAtOneTimeAreAnError) {
  const std::shared_ptr<const Flow> flow = FlowOf(R"(
flow @twice {
  %xs = input() {types = ["i64[]"]}
  %more = concat(%xs, %xs)
  %both = zip(%more, %xs)
  %out = output(%both)
}
)");
  FlowSimulation cluster(flow, {.workers = 2, .seed = 1});
  cluster.Feed({{flow->FindVertex("xs"), 0, Numbers(5, 1, 3)}});
  cluster.Run();
  EXPECT_THAT(cluster.failure().message(),
              HasSubstr("'both' (zip) at time (0): input 0 has more than one record of origin 3"));
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
