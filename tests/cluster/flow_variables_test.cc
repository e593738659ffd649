// Variables of flows on simulated clusters, under any timing: cycles through a delay against the
// oracle, and without an order against all orders of whole assigns that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/api/deployed_flow.h"
#include "client/embedded/embedded_cluster.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow_testing.h"
#include "tests/cluster/flow_simulation.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// Training of one number: each part of an epoch sees the value, what it makes of it is added up,
// and comes back two epochs later.
constexpr char kTraining[] = R"(
func @start() -> (f32[]) {
  %one = constant {value = f32[] {1}}
  return %one
}
func @learn(%value: f32[], %more: f32[]) -> (f32[]) {
  %rate = constant {value = f32[] {0.3}}
  %step = multiply(%more, %rate)
  %new = subtract(%value, %step)
  return %new
}
func @gradient(%part: i64[], %target: f32[], %value: f32[]) -> (f32[]) {
  %away = subtract(%value, %target)
  return %away
}
flow @training {
  %parts = input() {types = ["i64[]", "f32[]"]}
  %value = variable(%parts, %later) {keys = 0, init = "start", assign = "learn"}
  %spread = exchange(%value) {keys = 1}
  %gradients = map(%spread) {function = "gradient"}
  %sum = reduce_by_key(%gradients) {keys = 0, combine = "sum"}
  %later = delay(%sum) {epochs = 2}
  %out = output(%value)
}
)";

// A record for each part, in an epoch each.
std::vector<EpochRecords> Parts(const Flow& flow, int64_t epochs) {
  std::vector<EpochRecords> all;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    std::vector<Numbers> rows;
    for (int part = 0; part < 5; ++part) {
      rows.push_back({static_cast<double>(part), 0.1 * static_cast<double>(part + epoch)});
    }
    all.push_back({epoch, BatchOfNumbers(flow.vertices[0].output_types[0], rows)});
  }
  return all;
}

std::vector<FeedStep> StepsOf(VertexId input, const std::vector<EpochRecords>& parts) {
  std::vector<FeedStep> steps;
  for (const EpochRecords& part : parts) {
    if (part.epoch > 0) steps.push_back({input, part.epoch, std::nullopt});
    for (int64_t row = 0; row < part.batch.size(); ++row) {
      steps.push_back({input, part.epoch, SliceRows(part.batch, row, row + 1)});
    }
  }
  return steps;
}

TEST(FlowVariables, ACycleThroughADelayEndsAndHasTheBitsOfTheOracle) {
  const std::shared_ptr<const Flow> flow = FlowOf(kTraining);
  const std::vector<EpochRecords> parts = Parts(*flow, 12);
  const auto expected = RunReferenceFlow(*flow, {{"parts", parts}});
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(expected->outputs.at("out").size(), 12u);
  for (int workers = 1; workers <= 4; ++workers) {
    for (const int64_t channel_bytes : {int64_t{1}, int64_t{100}, int64_t{4} << 20}) {
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(StrCat(workers, " workers, channels of ", channel_bytes, ", seed ", seed));
        FlowSimulation cluster(flow,
                               {.workers = workers, .seed = seed, .channel_bytes = channel_bytes});
        cluster.Feed(StepsOf(flow->FindVertex("parts"), parts));
        cluster.Run();
        ASSERT_EQ(cluster.failure(), absl::OkStatus());
        ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
        ASSERT_EQ(ToString(cluster.NamedOutputs()), ToString(expected->outputs));
      }
    }
  }
}

// Keys and digits; ORDER stands for an order.
constexpr char kNumbers[] = R"(
func @one() -> (i64[]) {
  %one = constant {value = i64[] {1}}
  return %one
}
func @add(%value: i64[], %more: i64[]) -> (i64[]) {
  %new = add(%value, %more)
  return %new
}
func @push(%value: i64[], %digit: i64[]) -> (i64[]) {
  %ten = constant {value = i64[] {10}}
  %shifted = multiply(%value, %ten)
  %new = add(%shifted, %digit)
  return %new
}
flow @numbers {
  %reads = input() {types = ["i64[]"]}
  %updates = input() {types = ["i64[]", "i64[]"]}
  %more_updates = input() {types = ["i64[]", "i64[]"]}
  %all = concat(%updates, %more_updates)
  %value = variable(%reads, %all) {keys = 1, init = "one", assign = "ASSIGN", order = "ORDER"}
  %out = output(%value)
}
)";

std::shared_ptr<const Flow> NumbersFlow(const std::string& assign, const std::string& order) {
  std::string text = kNumbers;
  text.replace(text.find("ASSIGN"), 6, assign);
  text.replace(text.find("ORDER"), 5, order);
  return FlowOf(text);
}

FeedStep Read(const Flow& flow, int64_t epoch, int64_t key, int64_t origin = 0) {
  return {flow.FindVertex("reads"), epoch, MakeBatch({Tensor::Of<int64_t>({1}, {key})}, origin)};
}

FeedStep Update(const Flow& flow, const char* input, int64_t key, int64_t number, int64_t origin) {
  return {flow.FindVertex(input), 0,
          MakeBatch({Tensor::Of<int64_t>({1}, {key}), Tensor::Of<int64_t>({1}, {number})}, origin)};
}

// The values that were read in an epoch, in the order of origins.
std::vector<int64_t> ValuesRead(const Flow& flow, const FlowSimulation& cluster, int64_t epoch) {
  const VertexId out = flow.FindVertex("out");
  const RecordBatch all =
      Sorted(ConcatBatches(cluster.outputs().at(out).at(epoch), flow.vertex(out).input_types[0]));
  const int64_t* values = all.columns[1].data<int64_t>();
  return {values, values + all.size()};
}

// T5 of TensorFlow's model: each of many assign-adds of two clients counts, on any workers.
TEST(FlowVariables, ConcurrentAssignAddsSumExactly) {
  for (const char* order : {"time", "relaxed"}) {
    const std::shared_ptr<const Flow> flow = NumbersFlow("add", order);
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(StrCat(order, ", seed ", seed));
      FlowSimulation cluster(flow, {.workers = 1 + static_cast<int>(seed % 4), .seed = seed});
      std::vector<FeedStep> steps;
      for (int64_t i = 0; i < 40; ++i) {
        steps.push_back(Update(*flow, "updates", i % 3, i, i));
        steps.push_back(Update(*flow, "more_updates", i % 3, 1000, i));
      }
      cluster.FeedOpen(std::move(steps));
      cluster.Run();
      cluster.Feed({Read(*flow, 0, 0, 0), Read(*flow, 0, 1, 1), Read(*flow, 0, 2, 2)});
      cluster.Run();
      ASSERT_EQ(cluster.failure(), absl::OkStatus());
      // 0 + 3 + ... + 39, 1 + 4 + ... + 37, 2 + 5 + ... + 38.
      EXPECT_THAT(ValuesRead(*flow, cluster, 0), ::testing::ElementsAre(14'274, 13'248, 13'261));
    }
  }
}

// T6: what is assigned in one epoch is there in all later ones, whatever comes between.
TEST(FlowVariables, ValuesOutliveEpochs) {
  const std::shared_ptr<const Flow> flow = NumbersFlow("push", "time");
  FlowSimulation cluster(flow, {.workers = 3, .seed = 4});
  const auto advance = [&](const char* input, int64_t epoch) {
    return FeedStep{flow->FindVertex(input), epoch, std::nullopt};
  };
  cluster.Feed({Update(*flow, "updates", 7, 5, 0), Update(*flow, "updates", 7, 6, 1),
                advance("updates", 1), advance("reads", 3), Read(*flow, 3, 7),
                advance("reads", 1000), Read(*flow, 1000, 7), Read(*flow, 1000, 8, 1)});
  cluster.Run();
  ASSERT_EQ(cluster.failure(), absl::OkStatus());
  EXPECT_THAT(ValuesRead(*flow, cluster, 3), ::testing::ElementsAre(156));
  EXPECT_THAT(ValuesRead(*flow, cluster, 1000), ::testing::ElementsAre(156, 1));
}

// What two reads and one behind all else may see of the updates 2, 3 and 4.
using Outcome = std::tuple<int64_t, int64_t, int64_t>;

std::set<Outcome> OutcomesOfAllOrders() {
  std::set<Outcome> outcomes;
  std::vector<int64_t> digits = {2, 3, 4};
  do {
    std::vector<int64_t> values = {1};  // after each assign
    for (const int64_t digit : digits) values.push_back(10 * values.back() + digit);
    for (const int64_t first : values) {
      for (const int64_t second : values) outcomes.emplace(first, second, values.back());
    }
  } while (std::next_permutation(digits.begin(), digits.end()));
  return outcomes;
}

// T3: every outcome is one that some order of whole assigns gives.
TEST(FlowVariables, WithoutAnOrderOutcomesAreThoseOfSomeOrder) {
  const std::shared_ptr<const Flow> flow = NumbersFlow("push", "relaxed");
  const std::set<Outcome> possible = OutcomesOfAllOrders();
  std::set<Outcome> found;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    FlowSimulation cluster(flow, {.workers = 1 + static_cast<int>(seed % 3), .seed = seed});
    cluster.FeedOpen({Update(*flow, "updates", 7, 2, 0), Read(*flow, 0, 7, 0),
                      Update(*flow, "more_updates", 7, 3, 0), Update(*flow, "updates", 7, 4, 1),
                      Read(*flow, 0, 7, 1)});
    cluster.Run();
    cluster.Feed({Read(*flow, 0, 7, 2)});
    cluster.Run();
    ASSERT_EQ(cluster.failure(), absl::OkStatus());
    const std::vector<int64_t> read = ValuesRead(*flow, cluster, 0);
    ASSERT_EQ(read.size(), 3u);
    const Outcome outcome = {read[0], read[1], read[2]};
    EXPECT_TRUE(possible.contains(outcome)) << read[0] << " " << read[1] << " " << read[2];
    found.insert(outcome);
  }
  EXPECT_GT(found.size(), possible.size() / 4) << "of " << possible.size();
}

// With an order there is one outcome: the updates in the order of origins, then of content.
TEST(FlowVariables, WithAnOrderThereIsOneOutcome) {
  const std::shared_ptr<const Flow> flow = NumbersFlow("push", "time");
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    FlowSimulation cluster(flow, {.workers = 1 + static_cast<int>(seed % 3), .seed = seed});
    cluster.Feed({Update(*flow, "updates", 7, 2, 0), Read(*flow, 0, 7, 0),
                  Update(*flow, "more_updates", 7, 3, 0), Update(*flow, "updates", 7, 4, 1),
                  Read(*flow, 0, 7, 1)});
    cluster.Run();
    ASSERT_EQ(cluster.failure(), absl::OkStatus());
    EXPECT_THAT(ValuesRead(*flow, cluster, 0), ::testing::ElementsAre(1234, 1234));
  }
}

TEST(FlowVariables, AVariableThatWaitsForItsTurnIsNamed) {
  auto started = StartEmbedded({.workers = 2});
  ASSERT_TRUE(started.ok()) << started.status();
  const std::shared_ptr<Session> session = *std::move(started);
  v1::DeployRequest request;
  request.set_flow(PrintFlow(*NumbersFlow("push", "time")));
  const auto deployed = session->Deploy(request);
  ASSERT_TRUE(deployed.ok()) << deployed.status();
  const absl::Time soon = absl::Now() + absl::Minutes(5);
  auto flow = DeployedFlow::Attach(session, deployed->job().id(), {}, soon);
  ASSERT_TRUE(flow.ok()) << flow.status();
  const Tensor key = Tensor::Of<int64_t>({1}, {7});
  ASSERT_EQ((*flow)->Send("reads", 4, {key}, soon), absl::OkStatus());
  ASSERT_EQ((*flow)->CloseInput("reads"), absl::OkStatus());
  ASSERT_EQ((*flow)->CloseInput("more_updates"), absl::OkStatus());
  ASSERT_EQ((*flow)->Advance("updates", 2), absl::OkStatus());
  std::string text;
  while (text.find("meanwhile") == std::string::npos ||
         text.find("open at (2)") == std::string::npos) {
    ASSERT_LT(absl::Now(), soon) << text;
    auto explained = (*flow)->Explain("out");
    ASSERT_TRUE(explained.ok()) << explained.status();
    text = *explained;
  }
  EXPECT_THAT(text, HasSubstr("source 'updates' is open at (2)"));
  EXPECT_THAT(text,
              HasSubstr("'value' waits for its turn at (4), as (2) may still come to input 1"));
  ASSERT_EQ((*flow)->CloseInput("updates"), absl::OkStatus());
  const auto read = (*flow)->Collect("out", 4, soon);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->columns[1].data<int64_t>()[0], 1);
}

}  // namespace
}  // namespace weir
