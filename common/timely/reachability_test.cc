#include "common/timely/reachability.h"

#include <set>

#include "common/timely/oracle_testing.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What a walk does to times, as a pair of vectors.
using Walk = std::pair<std::vector<int64_t>, std::vector<int64_t>>;

Walk Longer(const Walk& walk, const Oracle::Way& way) {
  Walk result;
  for (size_t i = 0; i < way.add.size(); ++i) {
    if (i < walk.first.size()) {
      result.first.push_back(walk.first[i] + way.add[i]);
    } else {
      result.second.push_back(walk.second[i - walk.first.size()] + way.add[i]);
    }
  }
  result.second.insert(result.second.end(), way.append.begin(), way.append.end());
  return result;
}

// Compared by what they do to the times that tell them apart: zeros, and one large number.
bool NeverLater(const Walk& a, const Walk& b, int size) {
  constexpr int64_t kLarge = 1000;
  for (int large = -1; large < size; ++large) {
    OracleTime time(size, 0);
    if (large >= 0) time[large] = kLarge;
    const OracleTime after_a = Oracle::Apply({0, 0, a.first, a.second}, time);
    if (!OracleLessEqual(after_a, Oracle::Apply({0, 0, b.first, b.second}, time))) return false;
  }
  return true;
}

std::set<Walk> Least(const std::set<Walk>& walks, int size) {
  std::set<Walk> least;
  for (const Walk& walk : walks) {
    bool is_least = true;
    for (const Walk& other : walks) {
      is_least = is_least && (other == walk || !NeverLater(other, walk, size));
    }
    if (is_least) least.insert(walk);
  }
  return least;
}

// The least walks from a place to each place, of at most three times as many steps as there are
// places.
std::vector<std::set<Walk>> WalksFrom(int64_t from, const Oracle& oracle) {
  std::vector<std::set<Walk>> walks(oracle.num_locations());
  const int size = oracle.size(from);
  walks[from].insert({std::vector<int64_t>(size, 0), {}});
  for (int64_t length = 0; length < 3 * oracle.num_locations(); ++length) {
    std::vector<std::set<Walk>> next = walks;
    for (const Oracle::Way& way : oracle.ways()) {
      for (const Walk& walk : walks[way.from]) next[way.to].insert(Longer(walk, way));
    }
    for (std::set<Walk>& some : next) some = Least(some, size);
    if (next == walks) break;
    walks = std::move(next);
  }
  return walks;
}

TEST(TimelyInvariant, I05_SummariesAreThoseOfAllWalks) {
  ForEachSeed(CurrentTestRun().graphs / 5 + 1, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    const Oracle oracle(*topology);
    std::vector<std::vector<Antichain<PathSummary>>> ways_to;
    for (int64_t to = 0; to < topology->num_locations(); ++to) {
      ways_to.push_back(Reachability(topology).WaysTo(LocationId(to)));
    }
    for (int round = 0; round < 3; ++round) {
      const LocationId from(static_cast<int64_t>(random->Below(topology->num_locations())));
      const std::vector<std::set<Walk>> walks = WalksFrom(from.value(), oracle);
      for (int64_t to = 0; to < topology->num_locations(); ++to) {
        const Antichain<PathSummary>& ways = ways_to[to][from.value()];
        std::set<Walk> found;
        for (const PathSummary& summary : ways) {
          found.insert({{summary.add().begin(), summary.add().end()},
                        {summary.append().begin(), summary.append().end()}});
        }
        if (found == walks[to]) continue;
        return StrCat(topology->Describe(from), " to ", topology->Describe(LocationId(to)), ": ",
                      ToString(ways), ", ", walks[to].size(), " wanted\n",
                      ToString(topology->graph()));
      }
    }
    return "";
  });
}

TEST(Reachability, ResultsFollowFromSummaries) {
  ForEachSeed(300, [](uint64_t, Random* random) -> std::string {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    const Oracle oracle(*topology);
    Reachability reachability(topology);
    const auto draw = [&]() -> Pointstamp {
      const int64_t location = static_cast<int64_t>(random->Below(topology->num_locations()));
      OracleTime time;
      for (int i = 0; i < oracle.size(location); ++i) {
        time.push_back(static_cast<int64_t>(random->Below(3)));
      }
      return {LocationId(location), FromOracle(time)};
    };
    for (int round = 0; round < 20; ++round) {
      const Pointstamp from = draw();
      const std::vector<OracleTimes> times =
          oracle.Frontiers({{{from.location.value(), ToOracle(from.time)}, 1}});
      const Pointstamp to = draw();
      if (reachability.CouldResultIn(from, to) !=
          OracleCovers(times[to.location.value()], ToOracle(to.time))) {
        return ToString(topology->graph());
      }
    }
    return "";
  });
}

TEST(TimelyInvariant, I06_IdleCyclesAreRefusedAndNoOthers) {
  int refused = 0, taken = 0;
  ForEachSeed(CurrentTestRun().graphs, [&](uint64_t, Random* random) -> std::string {
    LogicalGraph graph = RandomGraph(random).Draw();
    if (random->Chance(0.3)) {  // one edge from anywhere in its scope, cycles or not
      LogicalGraph::Edge edge = graph.edges()[random->Below(graph.edges().size())];
      const ScopeId scope = graph.vertex(edge.to.vertex).inputs[edge.to.number];
      const VertexId other = graph.AddVertex("any", scope, 1, 1);
      graph.Connect(edge.from, {other, 0});
      const VertexId join = graph.AddVertex("join", scope, 2, 1);
      graph.Connect({other, 0}, {join, 0});
      graph.Connect({join, 0}, {join, 1});
      if (random->Chance(0.5)) graph.RemoveSummaries(join, 1, 0);
    }
    const bool is_idle = Oracle(graph).HasIdleCycle();
    const absl::Status status = Topology::Of(graph).status();
    ++(status.ok() ? taken : refused);
    if (status.ok() != is_idle) return "";
    return StrCat(is_idle ? "not refused" : status.ToString(), "\n", ToString(graph));
  });
  if (CurrentTestRun().graphs >= 200) {
    EXPECT_GT(refused, 20);
    EXPECT_GT(taken, 20);
  }
}

std::string Refusal(const LogicalGraph& graph) {
  return std::string(Topology::Of(graph).status().message());
}

TEST(Topology, NamesTheCycle) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId enter = graph.AddEnter("enter", loop);
  const VertexId step = graph.AddVertex("step", loop, 2, 1);
  const VertexId pass = graph.AddVertex("pass", loop, 1, 1);
  graph.Connect({source, 0}, {enter, 0});
  graph.Connect({enter, 0}, {step, 0});
  graph.Connect({step, 0}, {pass, 0});
  graph.Connect({pass, 0}, {step, 1});
  EXPECT_THAT(Refusal(graph),
              HasSubstr("the cycle input 0 of 'pass' -> output 0 of 'pass' -> input 1 of 'step' -> "
                        "output 0 of 'step' -> input 0 of 'pass' advances no counter"));
}

// A feedback inside does not help a cycle that leaves its loop on the way.
TEST(Topology, ACycleThroughAnotherLoopNeedsACounterOfTheScopeAround) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const VertexId join = graph.AddVertex("join", LogicalGraph::kRoot, 2, 1);
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId enter = graph.AddEnter("enter", loop);
  const VertexId feedback = graph.AddFeedback("feedback", loop);
  const VertexId leave = graph.AddLeave("leave", loop);
  graph.Connect({source, 0}, {join, 0});
  graph.Connect({join, 0}, {enter, 0});
  graph.Connect({enter, 0}, {feedback, 0});
  graph.Connect({feedback, 0}, {leave, 0});
  LogicalGraph with_epochs = graph;
  graph.Connect({leave, 0}, {join, 1});
  EXPECT_THAT(Refusal(graph), AllOf(HasSubstr("'join'"), HasSubstr("'feedback'"),
                                    HasSubstr("advances no counter that it keeps")));
  const VertexId back = with_epochs.AddFeedback("back", LogicalGraph::kRoot);
  with_epochs.Connect({leave, 0}, {back, 0});
  with_epochs.Connect({back, 0}, {join, 1});
  EXPECT_EQ(Refusal(with_epochs), "");
}

// Nor one that goes from loop to loop, past the scope around them.
TEST(Topology, ACycleFromLoopToLoopHasNoCounter) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  VertexId there[2], join[2];
  ScopeId loops[2];
  for (int i = 0; i < 2; ++i) {
    loops[i] = graph.AddScope(LogicalGraph::kRoot, StrCat("loop ", i));
    const VertexId enter = graph.AddEnter("enter", loops[i]);
    join[i] = graph.AddVertex(StrCat("join ", i), loops[i], 2, 1);
    const VertexId feedback = graph.AddFeedback(StrCat("feedback ", i), loops[i]);
    graph.Connect({source, 0}, {enter, 0});
    graph.Connect({enter, 0}, {join[i], 0});
    graph.Connect({join[i], 0}, {feedback, 0});
    there[i] = feedback;
  }
  for (int i = 0; i < 2; ++i) {
    const VertexId hop =
        graph.AddVertex("between", std::vector{loops[i]}, std::vector{loops[1 - i]});
    graph.AddSummary(hop, 0, 0, PathSummary({0}, {0}));
    graph.Connect({there[i], 0}, {hop, 0});
    graph.Connect({hop, 0}, {join[1 - i], 1});
  }
  EXPECT_THAT(Refusal(graph), AllOf(HasSubstr("'join 0'"), HasSubstr("'feedback 1'"),
                                    HasSubstr("advances no counter that it keeps")));
}

TEST(Topology, RefusesWhatIsNoGraph) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId sink = graph.AddVertex("sink", LogicalGraph::kRoot, 1, 0);
  EXPECT_THAT(Refusal(graph), HasSubstr("input 0 of 'sink' has 0 edges"));
  graph.Connect({source, 0}, {sink, 0});
  EXPECT_EQ(Refusal(graph), "");

  LogicalGraph twice = graph;
  twice.Connect({source, 0}, {sink, 0});
  EXPECT_THAT(Refusal(twice), HasSubstr("input 0 of 'sink' has 2 edges; it needs one"));

  LogicalGraph nowhere = graph;
  nowhere.Connect({source, 1}, {sink, 0});
  EXPECT_THAT(Refusal(nowhere), HasSubstr("there is no such port"));

  LogicalGraph across = graph;
  const VertexId inside = across.AddVertex("inside", loop, 1, 0);
  across.Connect({source, 0}, {inside, 0});
  EXPECT_THAT(Refusal(across), HasSubstr("from 'source' to 'inside' goes from scope 'root'"));

  LogicalGraph forgets = graph;
  const VertexId step = forgets.AddVertex("step", std::vector{LogicalGraph::kRoot}, {loop});
  forgets.AddSummary(step, 0, 0, PathSummary({0}, {}));
  forgets.Connect({source, 0}, {step, 0});
  EXPECT_THAT(Refusal(forgets), HasSubstr("gives 1 coordinates where times have 2"));

  LogicalGraph drops = graph;
  const VertexId enter = drops.AddEnter("enter", loop);
  const VertexId reset = drops.AddVertex("reset", std::vector{loop}, std::vector{loop});
  drops.AddSummary(reset, 0, 0, PathSummary({0}, {7}));
  drops.Connect({source, 0}, {enter, 0});
  drops.Connect({enter, 0}, {reset, 0});
  EXPECT_THAT(Refusal(drops), HasSubstr("keeps 1 coordinates where the scopes share 2"));
}

}  // namespace
}  // namespace weir
