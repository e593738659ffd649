#include "common/timely/tracker.h"

#include <cstdlib>
#include <new>

#include "common/timely/explain.h"
#include "common/timely/oracle_testing.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {

// How often memory was taken since the program began, by anything.
int64_t g_allocations = 0;

namespace {

using ::testing::HasSubstr;

// A tracker, what it should count, and what an observer who adds up its changes sees.
class Watched {
 public:
  explicit Watched(std::shared_ptr<const Topology> topology)
      : tracker(topology), oracle(*topology), seen_(topology->num_locations()) {}

  void Update(int64_t location, const OracleTime& time, int64_t delta) {
    tracker.Update(LocationId(location), FromOracle(time), delta);
    if ((counts[{location, time}] += delta) == 0) counts.erase({location, time});
  }

  // Returns: what is wrong after Propagate, or nothing.
  std::string Propagate() {
    bool removals = false;
    for (const auto& [pointstamp, delta] : tracker.Propagate()) {
      if (delta > 0 && removals) return "an addition after a removal";
      removals = removals || delta < 0;
      const OracleTime time = ToOracle(pointstamp.time);
      OracleTimes& seen = seen_[pointstamp.location.value()];
      if (delta == 1 && seen.insert(time).second) continue;
      if (delta == -1 && seen.erase(time) == 1) continue;
      return StrCat("change of ", delta, " at ", pointstamp.location.value());
    }
    const std::vector<OracleTimes> wanted = oracle.Frontiers(counts);
    const Topology& topology = tracker.topology();
    for (int64_t l = 0; l < topology.num_locations(); ++l) {
      const PortLocation::Kind kind = topology.location(LocationId(l)).kind;
      if (kind == PortLocation::Kind::kRequest) continue;
      const bool is_input = kind == PortLocation::Kind::kInput;
      const Frontier& shown = tracker.frontier(LocationId(l));
      if (ToOracle(shown) == wanted[l] && (!is_input || seen_[l] == wanted[l])) continue;
      return StrCat(topology.Describe(LocationId(l)), ": ", ToString(shown), ", ", wanted[l].size(),
                    " elements wanted, ", seen_[l].size(), " seen");
    }
    return "";
  }

  Tracker tracker;
  Oracle oracle;
  OracleCounts counts;

 private:
  std::vector<OracleTimes> seen_;
};

OracleTime RandomTime(int size, Random* random) {
  OracleTime time;
  for (int i = 0; i < size; ++i) time.push_back(static_cast<int64_t>(random->Below(4)));
  return time;
}

TEST(TimelyInvariant, I07_EveryFrontierIsTheImpliedOne) {
  int64_t nested = 0, several = 0;
  ForEachSeed(-1, [&](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    nested += topology->graph().scopes().size() > 1 ? 1 : 0;
    const Reachability reachability(topology);
    bool has_several = false;
    for (int64_t to = 0; to < topology->num_locations() && !has_several; ++to) {
      for (const auto& ways : reachability.WaysTo(LocationId(to))) has_several |= ways.size() > 1;
    }
    several += has_several ? 1 : 0;
    Watched watched(topology);
    for (int round = 0; round < 12; ++round) {
      for (uint64_t i = 0, updates = 1 + random->Below(8); i < updates; ++i) {
        const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
        const OracleTime time = RandomTime(watched.oracle.size(location), random);
        watched.Update(location, time, static_cast<int64_t>(random->Below(5)) - 2);
      }
      const std::string wrong = watched.Propagate();
      if (!wrong.empty()) return StrCat(wrong, "\n", ToString(topology->graph()));
    }
    return "";
  });
  if (CurrentTestRun().graphs >= 200) {
    EXPECT_GE(nested * 2, CurrentTestRun().graphs);
    EXPECT_GE(several * 10, CurrentTestRun().graphs * 3);
  }
}

// source -> 200 vertices, each behind the one before, in a loop with a way back.
std::shared_ptr<const Topology> LongLoop(int length, std::vector<VertexId>* vertices) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId enter = graph.AddEnter("enter", loop);
  const VertexId head = graph.AddVertex("head", loop, 2, 1);
  graph.Connect({source, 0}, {enter, 0});
  graph.Connect({enter, 0}, {head, 0});
  *vertices = {source, enter, head};
  for (int i = 0; i < length; ++i) {
    const VertexId next = graph.AddVertex("vertex", loop, 1, 1);
    graph.Connect({vertices->back(), 0}, {next, 0});
    vertices->push_back(next);
  }
  const VertexId feedback = graph.AddFeedback("feedback", loop);
  graph.Connect({vertices->back(), 0}, {feedback, 0});
  graph.Connect({feedback, 0}, {head, 1});
  const VertexId leave = graph.AddLeave("leave", loop);
  graph.Connect({vertices->back(), 0}, {leave, 0});
  const VertexId sink = graph.AddVertex("sink", LogicalGraph::kRoot, 1, 0);
  graph.Connect({leave, 0}, {sink, 0});
  vertices->push_back(leave);
  vertices->push_back(sink);
  return *Topology::Of(std::move(graph));
}

TEST(TimelyInvariant, I08_WorkFollowsTheChange) {
  for (const int length : {10, 100, 1000}) {
    std::vector<VertexId> vertices;
    const std::shared_ptr<const Topology> topology = LongLoop(length, &vertices);
    Tracker tracker(topology);
    const LocationId out = topology->output(vertices[0], 0);
    tracker.Update(out, {0}, 1);
    tracker.Propagate();
    // A change that moves no frontier costs nothing, however large the graph is.
    const int64_t before = tracker.pops();
    const LocationId first = topology->input(vertices[3], 0);
    for (int i = 0; i < 100; ++i) {
      tracker.Update(first, {0, 100 - i}, 1);
      tracker.Update(out, {0}, 1);
      tracker.Propagate();
    }
    EXPECT_EQ(tracker.pops() - before, 199);  // each frame takes the place of the one before it
    for (int i = 0; i < 100; ++i) {
      tracker.Update(first, {0, 200 + i}, 1);
      tracker.Propagate();
    }
    EXPECT_EQ(tracker.pops() - before, 199);
    // Nor does one that moves a frontier where nothing follows.
    const LocationId sink = topology->input(vertices.back(), 0);
    const int64_t then = tracker.pops();
    for (int i = 0; i < 100; ++i) {
      tracker.Update(sink, {100 - i}, 1);
      tracker.Propagate();
    }
    EXPECT_EQ(tracker.pops() - then, 199);
  }
}

// The way round is gone once, not once for each trip up to what is outstanding.
TEST(TimelyInvariant, I08_RetractionGoesRoundALoopOnce) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(10, &vertices);
  Tracker tracker(topology);
  const LocationId out = topology->output(vertices[0], 0);
  tracker.Update(out, {0}, 1);
  tracker.Update(topology->input(vertices[3], 0), {0, 1000000}, 1);
  tracker.Propagate();
  const int64_t before = tracker.pops();
  tracker.Update(out, {0}, -1);
  tracker.Propagate();
  EXPECT_EQ(tracker.frontier(topology->input(vertices[5], 0)), Frontier({{0, 1000000}}));
  EXPECT_EQ(tracker.frontier(topology->input(vertices.back(), 0)), Frontier({{0}}));
  // Each of the 29 places is told that (0, 0) goes and (0, 1000000) comes, or (0, 1) of the stale
  // round goes; no more than four changes for each.
  EXPECT_LE(tracker.pops() - before, 4 * 29);
}

// A job that is fifty times as large takes about fifty times as long, or this test hangs.
TEST(Tracker, LargeGraphsAreNoProblem) {
  for (const int size : {1, 50, 2500}) {
    LogicalGraph graph;
    VertexId last = graph.AddSource("source");
    const VertexId source = last;
    for (int i = 0; i < size; ++i) {
      const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
      const VertexId enter = graph.AddEnter("enter", loop);
      const VertexId head = graph.AddVertex("head", loop, 2, 1);
      const VertexId feedback = graph.AddFeedback("feedback", loop);
      const VertexId leave = graph.AddLeave("leave", loop);
      graph.Connect({last, 0}, {enter, 0});
      graph.Connect({enter, 0}, {head, 0});
      graph.Connect({head, 0}, {feedback, 0});
      graph.Connect({feedback, 0}, {head, 1});
      graph.Connect({head, 0}, {leave, 0});
      last = leave;
    }
    const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
    Tracker tracker(topology);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      tracker.Update(topology->output(source, 0), {epoch}, 1);
      if (epoch > 0) tracker.Update(topology->output(source, 0), {epoch - 1}, -1);
      tracker.Propagate();
      EXPECT_EQ(tracker.frontier(topology->output(last, 0)), Frontier({{epoch}}));
    }
    EXPECT_LE(tracker.pops(), 3 * 40 * size);
  }
}

// Beyond the depth for which times need no memory of their own.
TEST(Tracker, DeepLoopsWork) {
  LogicalGraph graph;
  VertexId last = graph.AddSource("source");
  const VertexId source = last;
  ScopeId scope = LogicalGraph::kRoot;
  for (int depth = 1; depth <= 8; ++depth) {
    scope = graph.AddScope(scope, "loop");
    const VertexId enter = graph.AddEnter("enter", scope);
    const VertexId head = graph.AddVertex("head", scope, 2, 1);
    const VertexId feedback = graph.AddFeedback("feedback", scope);
    graph.Connect({last, 0}, {enter, 0});
    graph.Connect({enter, 0}, {head, 0});
    graph.Connect({head, 0}, {feedback, 0});
    graph.Connect({feedback, 0}, {head, 1});
    last = head;
  }
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  Watched watched(topology);
  watched.Update(topology->output(source, 0).value(), {4}, 1);
  EXPECT_EQ(watched.Propagate(), "");
  watched.Update(topology->input(last, 1).value(), {3, 0, 1, 2, 3, 4, 5, 6, 7}, 1);
  EXPECT_EQ(watched.Propagate(), "");
  EXPECT_EQ(ToString(watched.tracker.frontier(topology->output(last, 0))),
            "{(3, 0, 1, 2, 3, 4, 5, 6, 7), (4, 0, 0, 0, 0, 0, 0, 0, 0)}");
}

// Of two sources that lead to one place, one takes over from the other: nobody behind it notices.
TEST(TimelyInvariant, I08_WhatCancelsGoesNoFurther) {
  LogicalGraph graph;
  const VertexId sources[] = {graph.AddSource("source"), graph.AddSource("source")};
  const VertexId join = graph.AddVertex("join", LogicalGraph::kRoot, 2, 1);
  for (int i = 0; i < 2; ++i) graph.Connect({sources[i], 0}, {join, i});
  VertexId last = join;
  for (int i = 0; i < 100; ++i) {
    const VertexId next = graph.AddVertex("vertex", LogicalGraph::kRoot, 1, 1);
    graph.Connect({last, 0}, {next, 0});
    last = next;
  }
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  Tracker tracker(topology);
  tracker.Update(topology->output(sources[0], 0), {0}, 1);
  tracker.Propagate();
  for (int i = 0; i < 10; ++i) {
    const int64_t before = tracker.pops();
    tracker.Update(topology->output(sources[i % 2], 0), {0}, -1);
    tracker.Update(topology->output(sources[(i + 1) % 2], 0), {0}, 1);
    EXPECT_EQ(tracker.Propagate().size(), 2u);  // the inputs of the join
    EXPECT_EQ(tracker.pops() - before, 6);      // two changes each of output, input and join
  }
}

// A closed epoch costs two changes for each place that follows, however many workers close it.
TEST(TimelyInvariant, I08_AnEpochCostsTwoChangesPerPlace) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(50, &vertices);
  Tracker tracker(topology);
  const LocationId out = topology->output(vertices[0], 0);
  for (int worker = 0; worker < 100; ++worker) tracker.Update(out, {0}, 1);
  tracker.Propagate();
  const int64_t first = tracker.pops();
  for (int worker = 0; worker < 100; ++worker) {
    tracker.Update(out, {0}, -1);
    tracker.Update(out, {1}, 1);
  }
  tracker.Propagate();
  // Two for each of the places; two at the output of the head and two right behind it because the
  // next trip of epoch 0 takes its place there, until the way round says that it is gone, too.
  const int64_t inputs_and_outputs = 2 * 50 + 1 + 2 + 3 + 2 + 2 + 1;
  EXPECT_EQ(tracker.pops() - first, 2 * inputs_and_outputs + 4);
}

TEST(TimelyInvariant, I08_EachPlaceAndTimeIsWorkedOutOnce) {
  ForEachSeed(-1, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    Watched watched(topology);
    int64_t steps = 0;
    for (int64_t l = 0; l < topology->num_locations(); ++l) {
      steps = std::max<int64_t>(steps, topology->hops(LocationId(l)).size());
    }
    for (int round = 0; round < 10; ++round) {
      const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
      const OracleTime time = RandomTime(watched.oracle.size(location), random);
      const int64_t delta =
          watched.counts.contains({location, time}) && random->Chance(0.7) ? -1 : 1;
      const std::vector<OracleTimes> before = watched.oracle.Frontiers(watched.counts);
      watched.Update(location, time, delta);
      const int64_t pops = watched.tracker.pops();
      watched.tracker.Propagate();
      // Elements of frontiers that come or go; on the way a stale one may show up in between.
      int64_t moved = 1;
      const std::vector<OracleTimes> after = watched.oracle.Frontiers(watched.counts);
      for (size_t l = 0; l < after.size(); ++l) {
        for (const OracleTime& t : after[l]) moved += before[l].count(t) == 0 ? 1 : 0;
        for (const OracleTime& t : before[l]) moved += after[l].count(t) == 0 ? 1 : 0;
      }
      const int64_t bound = 8 * moved * steps;
      if (watched.tracker.pops() - pops <= bound) continue;
      return StrCat(watched.tracker.pops() - pops, " pops, at most ", bound, "\n",
                    ToString(topology->graph()));
    }
    return "";
  });
}

TEST(TimelyInvariant, I09_TheInverseLogLeavesNothing) {
  ForEachSeed(300, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    Tracker tracker(topology);
    std::vector<Change> log;
    for (int i = 0; i < 40; ++i) {
      const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
      const int size = topology->location(LocationId(location)).depth + 1;
      log.push_back({{LocationId(location), FromOracle(RandomTime(size, random))},
                     static_cast<int64_t>(random->Below(5)) - 2});
    }
    for (const int64_t sign : {1, -1}) {
      for (const Change& change : log) {
        tracker.Update(change.key.location, change.key.time, sign * change.delta);
        if (random->Chance(0.3)) tracker.Propagate();
      }
      tracker.Propagate();
    }
    if (tracker.active() != 0 || !tracker.Frontiers().empty()) return "something is left";
    for (int64_t l = 0; l < topology->num_locations(); ++l) {
      if (!tracker.outstanding(LocationId(l)).counts().empty()) return "a count is left";
      if (!tracker.frontier(LocationId(l)).empty()) return "an element is left";
    }
    return "";
  });
}

TEST(Tracker, EmptyEpochsTakeNoMemory) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(5, &vertices);
  Tracker tracker(topology);
  const LocationId out = topology->output(vertices[0], 0);
  tracker.Update(out, {0}, 1);
  tracker.Propagate();
  int64_t after_warm_up = 0;
  for (int64_t epoch = 0; epoch < 20000; ++epoch) {
    tracker.Update(out, {epoch + 1}, 1);
    tracker.Update(out, {epoch}, -1);
    ASSERT_EQ(tracker.Propagate().size(), 2u * 11);
    if (epoch == 10) after_warm_up = g_allocations;
  }
  EXPECT_EQ(g_allocations, after_warm_up);
  EXPECT_GT(g_allocations, 0);
}

// What it takes to be ready for a chain of so many vertices, and to say what one of them waits for.
int64_t AllocationsForAChainOf(int vertices) {
  const int64_t before = g_allocations;
  LogicalGraph graph;
  VertexId last = graph.AddSource("source");
  for (int v = 0; v < vertices; ++v) {
    const VertexId vertex = graph.AddVertex("vertex", LogicalGraph::kRoot, 1, 1);
    graph.Connect({last, 0}, {vertex, 0});
    last = vertex;
  }
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  Tracker tracker(topology);
  const Reachability reachability(topology);
  tracker.Update(topology->output(VertexId(0), 0), {0}, 1);
  tracker.Propagate();
  EXPECT_EQ(tracker.pops(), 2 * vertices + 1);
  EXPECT_EQ(HoldersOf(topology->input(last, 0), tracker, reachability).size(), 1u);
  return g_allocations - before;
}

TEST(Tracker, AChainCostsWhatItsVerticesDo) {
  EXPECT_LT(AllocationsForAChainOf(8000), 8.5 * AllocationsForAChainOf(1000));
}

TEST(Tracker, AnOpenInputIsToldAsTheReason) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(2, &vertices);
  Tracker tracker(topology);
  Reachability reachability(topology);
  tracker.Update(topology->output(vertices[0], 0), {3}, 2);
  tracker.Update(topology->input(vertices[4], 0), {2, 5}, 1);
  tracker.Propagate();
  const LocationId sink = topology->input(vertices.back(), 0);
  EXPECT_EQ(ToString(HoldersOf(sink, tracker, reachability), sink, *topology),
            "(2) at input 0 of 'sink' waits for 1 at input 0 of 'vertex' of (2, 5)\n");
  tracker.Update(topology->input(vertices[4], 0), {2, 5}, -1);
  tracker.Propagate();
  EXPECT_EQ(ToString(HoldersOf(sink, tracker, reachability), sink, *topology),
            "(3) at input 0 of 'sink' waits for 2 at output 0 of 'source' of (3)\n");
}

TEST(Explain, HoldersAreAllThatCouldResultInTheFrontier) {
  ForEachSeed(-1, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    Watched watched(topology);
    Reachability reachability(topology);
    for (int i = 0; i < 6; ++i) {
      const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
      watched.Update(location, RandomTime(watched.oracle.size(location), random), 1);
    }
    watched.tracker.Propagate();
    const int64_t port = static_cast<int64_t>(random->Below(topology->num_locations()));
    if (topology->location(LocationId(port)).kind == PortLocation::Kind::kRequest) return "";
    using Found = std::tuple<int64_t, OracleTime, int64_t, OracleTime>;
    std::set<Found> wanted, found;
    const OracleTimes frontier = watched.oracle.Frontiers(watched.counts)[port];
    for (const auto& [key, count] : watched.counts) {
      const OracleTimes alone = watched.oracle.Frontiers({{key, count}})[port];
      for (const OracleTime& element : alone) {
        if (frontier.contains(element)) wanted.emplace(key.first, key.second, count, element);
      }
    }
    for (const Holder& holder : HoldersOf(LocationId(port), watched.tracker, reachability)) {
      const auto& [location, time] = holder.outstanding;
      found.emplace(location.value(), ToOracle(time), holder.count, ToOracle(holder.element));
    }
    return found == wanted ? "" : StrCat(found.size(), " found, ", wanted.size(), " wanted");
  });
}

TEST(Explain, RootsAreAllThatNothingElseCouldResultIn) {
  ForEachSeed(-1, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    Watched watched(topology);
    for (int i = 0; i < 6; ++i) {
      const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
      const int64_t delta = random->Chance(0.1) ? -1 : 1;
      watched.Update(location, RandomTime(watched.oracle.size(location), random), delta);
    }
    watched.tracker.Propagate();
    OracleCounts wanted, found;
    for (const auto& [key, count] : watched.counts) {
      OracleCounts others = watched.counts;
      others.erase(key);
      if (count <= 0) continue;
      if (OracleCovers(watched.oracle.Frontiers(others)[key.first], key.second)) continue;
      wanted[key] = count;
    }
    for (const Root& root : RootsOf(watched.tracker)) {
      found[{root.outstanding.location.value(), ToOracle(root.outstanding.time)}] = root.count;
    }
    return found == wanted ? "" : StrCat(found.size(), " found, ", wanted.size(), " wanted");
  });
}

TEST(Explain, AgesAreSinceTheCountBecamePositiveLast) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(2, &vertices);
  Tracker tracker(topology);
  const LocationId in = topology->input(vertices[1], 0);
  const auto at = [](int64_t seconds) { return absl::FromUnixSeconds(seconds); };
  const auto since = [&] { return RootsOf(tracker).at(0).since; };
  tracker.Update(in, {0}, 1);
  tracker.Propagate(at(1));
  tracker.Update(in, {0}, 1);
  tracker.Propagate(at(2));
  EXPECT_EQ(since(), at(1));
  tracker.Update(in, {0}, -3);
  tracker.Propagate(at(3));
  EXPECT_TRUE(RootsOf(tracker).empty());
  tracker.Update(in, {0}, 2);
  tracker.Propagate(at(4));
  EXPECT_EQ(since(), at(4));
}

TEST(Tracker, CountsBelowZeroAreToldOnceNothingCanMakeUpForThem) {
  std::vector<VertexId> vertices;
  const std::shared_ptr<const Topology> topology = LongLoop(2, &vertices);
  Tracker tracker(topology);
  const LocationId out = topology->output(vertices[0], 0);
  const LocationId in = topology->input(vertices[1], 0);
  tracker.Update(out, {0}, 1);
  tracker.Update(in, {0}, -1);  // heard of before what was produced
  tracker.Propagate();
  EXPECT_TRUE(tracker.CheckCounts().ok());
  EXPECT_EQ(tracker.outstanding(in).count({0}), -1);
  tracker.Update(in, {0}, 1);
  tracker.Update(in, {1}, -1);
  tracker.Propagate();
  EXPECT_TRUE(tracker.CheckCounts().ok());
  tracker.Update(out, {0}, -1);
  tracker.Update(out, {2}, 1);
  tracker.Propagate();
  EXPECT_THAT(std::string(tracker.CheckCounts().message()),
              HasSubstr("the count of input 0 of 'enter' at (1) is -1"));
}

}  // namespace
}  // namespace weir

// Counts what the whole test binary allocates.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++weir::g_allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
