#include "common/plan/progress_wire.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/timely/random_graph_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A source, and a loop of two vertices behind it.
std::shared_ptr<const Topology> Loop() {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId enter = graph.AddEnter("enter", loop);
  const VertexId step = graph.AddVertex("step", loop, 2, 1);
  const VertexId back = graph.AddFeedback("back", loop);
  graph.Connect({source, 0}, {enter, 0});
  graph.Connect({enter, 0}, {step, 0});
  graph.Connect({step, 0}, {back, 0});
  graph.Connect({back, 0}, {step, 1});
  return *Topology::Of(std::move(graph));
}

Timestamp AnyTime(int depth, Random* random) {
  Coordinates time;
  for (int i = 0; i <= depth; ++i) {
    time.push_back(random->Chance(0.1) ? kMost : static_cast<int64_t>(random->Below(1'000'000)));
  }
  return Timestamp(std::move(time));
}

std::vector<Change> AnyChanges(const Topology& topology, Random* random) {
  ChangeBatch<Pointstamp> changes;
  for (int64_t i = 0, count = static_cast<int64_t>(random->Below(30)); i < count; ++i) {
    const LocationId location(static_cast<int64_t>(random->Below(topology.num_locations())));
    const int64_t delta = static_cast<int64_t>(random->Below(1'000)) - 500;
    changes.Add({location, AnyTime(topology.location(location).depth, random)}, delta);
  }
  const absl::Span<const Change> merged = changes.Merge();
  return {merged.begin(), merged.end()};
}

template <class Message>
Message OverTheWire(const Message& message) {
  Message read;
  EXPECT_TRUE(read.ParseFromString(message.SerializeAsString()));
  return read;
}

TEST(ProgressWire, EverythingComesBackAsItWas) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SeededRandom random(seed);
    const std::shared_ptr<const Topology> topology = RandomTopology(&random);
    const auto graph = LogicalGraphFrom(OverTheWire(ToWire(topology->graph())));
    ASSERT_TRUE(graph.ok()) << "seed " << seed << ": " << graph.status();
    EXPECT_EQ(ToString(*graph), ToString(topology->graph())) << "seed " << seed;
    ASSERT_TRUE(Topology::Of(*graph).ok());

    const ProgressBatch batch = {static_cast<int64_t>(seed), AnyChanges(*topology, &random)};
    const auto read = ProgressBatchFrom(OverTheWire(ToWire(batch)), *topology);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
    EXPECT_EQ(read->sequence, batch.sequence);
    EXPECT_EQ(read->changes, batch.changes) << "seed " << seed;

    FrontierUpdate update = {kMost, AnyChanges(*topology, &random)};
    for (Change& change : update.changes) change.delta = change.delta > 0 ? 1 : -1;
    std::stable_partition(update.changes.begin(), update.changes.end(),
                          [](const Change& change) { return change.delta > 0; });
    const auto told = FrontierUpdateFrom(OverTheWire(ToWire(update)), *topology);
    ASSERT_TRUE(told.ok()) << "seed " << seed << ": " << told.status();
    EXPECT_EQ(told->sequence, kMost);
    EXPECT_EQ(told->changes, update.changes) << "seed " << seed;
  }
}

TEST(ProgressWire, AChangeTakesAFewBytesHoweverLateItIs) {
  const std::shared_ptr<const Topology> topology = Loop();
  const int64_t late = int64_t{1} << 40;
  std::vector<Change> changes;
  for (int64_t l = 0; l < topology->num_locations(); ++l) {
    Coordinates time(topology->location(LocationId(l)).depth + 1, 5);
    time[0] = late;
    changes.push_back({{LocationId(l), Timestamp(time)}, l % 2 == 0 ? 1 : -1});
  }
  const size_t size = ToWire(ProgressBatch{1, changes}).ByteSizeLong();
  EXPECT_LE(size, 4 * changes.size() + 16);
}

std::string UnpackError(const Topology& topology, const std::vector<uint64_t>& numbers) {
  google::protobuf::RepeatedField<uint64_t> packed(numbers.begin(), numbers.end());
  return std::string(UnpackChanges(packed, topology).status().message());
}

TEST(ProgressWire, WhatDoesNotFitTheJobIsRefusedWithTheChangeAndThePlace) {
  const std::shared_ptr<const Topology> topology = Loop();
  EXPECT_EQ(UnpackError(*topology, {0, 2, 2}), "");
  EXPECT_THAT(UnpackError(*topology, {0, 2, 2, 99, 0, 0}),
              HasSubstr("change 2: there is no location 0 + 99; the job has "));
  EXPECT_THAT(UnpackError(*topology, {~uint64_t{0}, 0, 0}),
              HasSubstr("change 1: there is no location 0 + 18446744073709551615"));
  EXPECT_THAT(UnpackError(*topology, {0, 2}), HasSubstr("end in the middle of output 0 of 'so"));
  EXPECT_THAT(UnpackError(*topology, {0}), HasSubstr("end in the middle of output 0 of 'source'"));
  EXPECT_THAT(UnpackError(*topology, {0, 1, 2}), HasSubstr("output 0 of 'source' is negative"));
  EXPECT_THAT(UnpackError(*topology, {0, ~uint64_t{0} - 1, 2, 0, 2, 2}),
              HasSubstr("change 2: a coordinate of a time at output 0 of 'source' is negative or"));
  const uint64_t step = static_cast<uint64_t>(topology->input(VertexId(2), 1).value());
  EXPECT_EQ(UnpackError(*topology, {step, 2, 7, 2}), "");
  EXPECT_THAT(UnpackError(*topology, {step, 2, ~uint64_t{0}, 2}),
              HasSubstr("a time at input 1 of 'step' is negative or beyond int64"));
}

TEST(ProgressWire, LimitsHoldForEveryMessage) {
  const std::shared_ptr<const Topology> topology = Loop();
  const ProgressLimits two = {.changes = 2};
  v1::FrontierUpdate update;
  for (int i = 0; i < 2; ++i) update.add_additions(0);
  for (int i = 0; i < 4; ++i) update.add_removals(0);
  EXPECT_THAT(std::string(FrontierUpdateFrom(update, *topology, two).status().message()),
              HasSubstr("removals: 3 changes or more in one message; at most 2 are taken"));
  v1::ProgressBatch batch;
  batch.set_number(~uint64_t{0});
  EXPECT_THAT(std::string(ProgressBatchFrom(batch, *topology).status().message()),
              HasSubstr("beyond int64"));
  v1::ProgressGrants grants;
  PackChanges(std::vector<Change>{{{topology->input(VertexId(1), 0), {0}}, 1}},
              grants.mutable_changes());
  EXPECT_THAT(std::string(GrantsFrom(grants, *topology).status().message()),
              HasSubstr("1 of (0) at input 0 of 'enter' is no grant"));
}

struct BadGraph {
  void (*damage)(v1::LogicalGraph* graph);
  const char* says;
};

class DamagedGraph : public ::testing::TestWithParam<BadGraph> {};

TEST_P(DamagedGraph, IsRefusedWithWhatIsWrong) {
  v1::LogicalGraph message = ToWire(Loop()->graph());
  GetParam().damage(&message);
  const auto graph = LogicalGraphFrom(message);
  const absl::Status status = graph.ok() ? Topology::Of(*graph).status() : graph.status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    ProgressWire, DamagedGraph,
    ::testing::Values(
        BadGraph{[](v1::LogicalGraph* graph) { graph->mutable_scopes(0)->set_parent(1); },
                 "scope 'loop' is in scope 1, which does not come before it"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   for (uint32_t i = 1; i <= 33; ++i) graph->add_scopes()->set_parent(i);
                 },
                 "is inside of 33 loops; at most 32"},
        BadGraph{[](v1::LogicalGraph* graph) { graph->mutable_vertices(1)->set_inputs(0, 7); },
                 "vertex 'enter' has a port in scope 7; there are 2"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   graph->mutable_vertices(2)->mutable_summaries(0)->set_input(2);
                 },
                 "from input 2 to output 0 of 'step' is between ports that are not there"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   graph->mutable_vertices(2)->mutable_summaries(0)->set_add(1, ~uint64_t{0});
                 },
                 "of 'step' has a number beyond int64"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   graph->mutable_vertices(2)->mutable_summaries(0)->clear_add();
                 },
                 "of 'step' keeps nothing"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   graph->mutable_vertices(2)->mutable_summaries(0)->add_append(1);
                 },
                 "keeps 2 coordinates and appends 1 where the scopes share 2 and times have 2"},
        BadGraph{[](v1::LogicalGraph* graph) {
                   v1::LogicalGraph::Vertex* const vertex = graph->add_vertices();
                   for (int i = 0; i < 1'001; ++i) vertex->add_inputs(0);
                   for (int i = 0; i < 1'000; ++i) vertex->add_outputs(0);
                 },
                 "1001004 pairs of an input and an output or more in one message"},
        BadGraph{[](v1::LogicalGraph* graph) { graph->mutable_edges(0)->set_to_vertex(~0u); },
                 "there is no such port"},
        BadGraph{[](v1::LogicalGraph* graph) { graph->mutable_edges(0)->set_input(~0u); },
                 "an edge is between output 0 and input 4294967295"}));

}  // namespace
}  // namespace weir
