// The protocol between workers and coordinator in random runs. All runs are made once; each test
// then says of one property whether it held after every step (Simulation names it when it does
// not).
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/simulation_testing.h"
#include "common/timely/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr int kSteps = 90;

// What becomes of a run once it has gone on for a while.
enum class End { kAllDone, kOneHeld, kWorkerLost, kWorkerJoins, kFrameTwice };

struct Outcome {
  std::string wrong;  // in the first run in which something was
  uint64_t seed = 0;
  int64_t activations = 0, batches = 0, updates = 0, notifications = 0, inner_changes = 0;
  int64_t twice = 0;
};

std::string GoOn(int steps, Simulation* simulation) {
  std::string wrong;
  for (int i = 0; i < steps && wrong.empty(); ++i) wrong = simulation->Step();
  return wrong;
}

std::string Finish(End end, Random* random, Simulation* simulation, Outcome* outcome) {
  std::string wrong;
  switch (end) {
    case End::kAllDone:
      return simulation->Drain(Simulation::Keep::kNothing);
    case End::kOneHeld:
      return simulation->Drain(Simulation::Keep::kOneCapability);
    case End::kWorkerJoins:
      wrong = simulation->Join();
      if (wrong.empty()) wrong = GoOn(kSteps / 2, simulation);
      return wrong.empty() ? simulation->Drain(Simulation::Keep::kNothing) : wrong;
    case End::kWorkerLost:
      simulation->Lose(random->Below(simulation->size()));
      wrong = GoOn(kSteps / 2, simulation);
      if (wrong.empty()) wrong = simulation->Drain(Simulation::Keep::kNothing);
      return wrong.empty() ? "" : StrCat("I28: ", wrong);
    case End::kFrameTwice:
      if (!simulation->RepeatAFrame()) return "";
      ++outcome->twice;
      wrong = GoOn(10, simulation);
      if (wrong.empty()) wrong = simulation->Drain(Simulation::Keep::kNothing);
      if (wrong.empty() && !simulation->noticed()) wrong = "a frame came twice";
      return wrong.empty() ? "" : StrCat("I17: ", wrong);
  }
  return "";
}

// The vertices of the loops, or nothing: those may be on one worker.
std::vector<VertexId> Loops(const LogicalGraph& graph) {
  std::vector<VertexId> vertices;
  for (size_t v = 0; v < graph.vertices().size(); ++v) {
    const LogicalGraph::Vertex& vertex = graph.vertices()[v];
    for (const ScopeId scope : vertex.outputs) {
      if (scope == LogicalGraph::kRoot || vertex.inputs.empty()) continue;
      vertices.push_back(VertexId(static_cast<int64_t>(v)));
      break;
    }
  }
  return vertices;
}

std::string RunOne(Random* random, Outcome* outcome) {
  const std::shared_ptr<const Topology> topology = RandomTopology(random);
  const End end = static_cast<End>(random->Below(5));
  Simulation simulation(topology, 1 + static_cast<int>(random->Below(4)), random);
  const bool inner = end == End::kAllDone || end == End::kOneHeld;
  if (inner) simulation.GiveToOneWorker(Loops(topology->graph()));
  std::string wrong = GoOn(kSteps, &simulation);
  if (wrong.empty()) wrong = Finish(end, random, &simulation, outcome);
  outcome->activations += simulation.counters().activations;
  outcome->batches += simulation.counters().batches;
  outcome->updates += simulation.counters().updates;
  outcome->notifications += simulation.counters().notifications;
  outcome->inner_changes += simulation.counters().inner_changes;
  return wrong.empty() ? "" : StrCat(wrong, "\n", ToString(topology->graph()));
}

const Outcome& AllRuns() {
  static const Outcome& outcome = *[] {
    auto* all = new Outcome;
    for (int64_t i = 0; i < CurrentTestRun().graphs && all->wrong.empty(); ++i) {
      all->seed = CurrentTestRun().seed + static_cast<uint64_t>(i);
      SeededRandom random(all->seed);
      all->wrong = RunOne(&random, all);
    }
    return all;
  }();
  return outcome;
}

void ExpectHeld(const char* property) {
  const Outcome& outcome = AllRuns();
  if (outcome.wrong.empty()) return;
  if (absl::StartsWith(outcome.wrong, property)) {
    FAIL() << "again: --graphs=1 --seed=" << outcome.seed << "\n" << outcome.wrong;
  }
  FAIL() << "not known, as the runs ended early: " << outcome.wrong.substr(0, 4);
}

TEST(TimelyInvariant, I10_WhatIsOutstandingIsHeardOfOrUnderWay) { ExpectHeld("I10"); }
TEST(TimelyInvariant, I11_NoFrontierIsAheadOfWhatIsOutstanding) { ExpectHeld("I11"); }
TEST(TimelyInvariant, I12_NoWorkerIsAheadOfTheCoordinator) { ExpectHeld("I12"); }
TEST(TimelyInvariant, I13_FrontiersNeverGoBack) { ExpectHeld("I13"); }
TEST(TimelyInvariant, I14_NoFrameComesAfterItsTimeIsComplete) { ExpectHeld("I14"); }
TEST(TimelyInvariant, I15_NoChangeUnderWayIsASurprise) { ExpectHeld("I15"); }
TEST(TimelyInvariant, I16_EveryBatchOfAnHonestWorkerIsJustified) { ExpectHeld("I16"); }
TEST(TimelyInvariant, I17_AFrameThatComesTwiceIsNoticed) { ExpectHeld("I17"); }
TEST(TimelyInvariant, I18_EverybodyLearnsWhatIsDone) { ExpectHeld("I18"); }
TEST(TimelyInvariant, I19_NothingIsSentForNothing) { ExpectHeld("I19"); }
TEST(TimelyInvariant, I20_NobodyIsNotifiedBeforeTheLastFrame) { ExpectHeld("I20"); }
TEST(TimelyInvariant, I28_NothingMovesForALostWorker) { ExpectHeld("I28"); }
TEST(TimelyInvariant, I29_AWorkerThatJoinsMovesNoFrontier) { ExpectHeld("I29"); }
TEST(InnerFrontiers, AreNeverAheadAndNeverLeftBehind) { ExpectHeld("inner"); }

TEST(Simulation, DoesSomething) {
  const int64_t graphs = CurrentTestRun().graphs;
  if (graphs < 200) GTEST_SKIP() << "too few graphs";
  EXPECT_GT(AllRuns().activations, 10 * graphs);
  EXPECT_GT(AllRuns().batches, 3 * graphs);
  EXPECT_GT(AllRuns().updates, graphs);
  EXPECT_GT(AllRuns().notifications, graphs / 20);
  EXPECT_GT(AllRuns().inner_changes, graphs);
  EXPECT_GT(AllRuns().twice, graphs / 20);
}

}  // namespace
}  // namespace weir
