// The random runs of common/timely with the coordinator's half as it is, and all messages in bytes:
// one to four workers, frames and batches and updates that wait as long as they like, everything
// compared after each step with what truly is outstanding (simulation_testing.h).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/timely/explain.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/simulation_testing.h"
#include "common/timely/test_run_testing.h"
#include "server/progress/explain_progress.h"
#include "server/progress/progress_test_harness.h"

namespace weir {
namespace {

class RealCoordinator : public SimulatedCoordinator {
 public:
  explicit RealCoordinator(const std::shared_ptr<const Topology>& topology)
      : topology_(topology), progress_({.job = 3, .generation = 2}, topology, now_) {}

  Joined Join() override {
    auto joined = progress_.Join(workers_, StrCat("w", workers_), now_);
    EXPECT_TRUE(joined.ok()) << joined.status();
    ++workers_;
    bytes_out_ += joined->grants.ByteSizeLong();
    Joined read;
    read.grants = *GrantsFrom(OverTheWire(joined->grants), *topology_);
    read.first_update = static_cast<int64_t>(joined->grants.first_update());
    if (!joined->update.has_value()) return read;
    read.update = Read(*joined->update);
    bytes_out_ += joined->update->ByteSizeLong();
    return read;
  }
  FrontierUpdate Start() override { return Broadcast(*progress_.Start(now_)); }
  absl::Status Accept(size_t worker, const ProgressBatch& batch, absl::Time now) override {
    now_ = now;
    v1::ProgressBatch message = ToWire(batch);
    message.set_job(3);
    message.set_generation(2);
    const std::string bytes = message.SerializeAsString();
    bytes_in_ += bytes.size();
    v1::ProgressBatch read;
    EXPECT_TRUE(read.ParseFromString(bytes));
    ++batches_;
    changes_ += static_cast<int64_t>(batch.changes.size());
    return progress_.OnBatch(worker, read, now);
  }
  std::optional<FrontierUpdate> Propagate(absl::Time now) override {
    now_ = now;
    const std::optional<v1::FrontierUpdate> update = progress_.Propagate(now);
    if (wrong_.empty()) wrong_ = CheckWaits();
    if (!update.has_value()) return std::nullopt;
    return Broadcast(*update);
  }
  absl::Status CheckCounts() const override {
    return progress_.state() == JobProgress::State::kFailed ? progress_.status() : absl::OkStatus();
  }
  const Tracker& tracker() const override { return progress_.tracker(); }

  // Returns: what does not hold at the end.
  std::string CheckEnd() const {
    const ProgressCounters counters = progress_.counters();
    if (progress_.state() == JobProgress::State::kFailed) return "";
    if (counters.updates == 0) return wrong_;
    if (!progress_.status().ok()) return progress_.status().ToString();
    const bool completed = progress_.state() == JobProgress::State::kCompleted;
    if (completed != (progress_.tracker().active() == 0)) return "completed while something is";
    if (counters.bytes_in != static_cast<int64_t>(bytes_in_)) return "bytes in";
    if (counters.bytes_out != static_cast<int64_t>(bytes_out_)) return "bytes out";
    if (counters.batches != batches_ || counters.changes != changes_) return "batches or changes";
    if (counters.refused != 0) return "refused";
    return wrong_;
  }

 private:
  FrontierUpdate Read(const v1::FrontierUpdate& update) const {
    auto read = FrontierUpdateFrom(OverTheWire(update), *topology_);
    EXPECT_TRUE(read.ok()) << read.status();
    return *std::move(read);
  }
  FrontierUpdate Broadcast(const v1::FrontierUpdate& update) {
    bytes_out_ += update.ByteSizeLong() * static_cast<size_t>(workers_);
    return Read(update);
  }

  // What a job waits for is what it has if and only if nothing else could result in it, and shares
  // of workers add up.
  std::string CheckWaits() const {
    if (progress_.state() == JobProgress::State::kFailed) return "";
    const Tracker& tracker = progress_.tracker();
    OracleCounts named, wanted;
    for (const Wait& wait : WaitsOf(progress_)) {
      named[{wait.outstanding.location.value(), ToOracle(wait.outstanding.time)}] += wait.count;
    }
    std::vector<std::pair<Pointstamp, int64_t>> all;
    for (int64_t l = 0; l < topology_->num_locations(); ++l) {
      for (const auto& [time, count, since] : tracker.outstanding(LocationId(l)).counts()) {
        if (count > 0) all.push_back({{LocationId(l), time}, count});
      }
    }
    Reachability reachability(topology_);
    for (const auto& [pointstamp, count] : all) {
      const bool waits = std::any_of(all.begin(), all.end(), [&](const auto& other) {
        return !(other.first == pointstamp) && reachability.CouldResultIn(other.first, pointstamp);
      });
      if (!waits) wanted[{pointstamp.location.value(), ToOracle(pointstamp.time)}] = count;
    }
    if (named != wanted)
      return StrCat("not what it waits for:\n", Dump(progress_, WaitsOf(progress_), now_));
    return "";
  }

  const std::shared_ptr<const Topology> topology_;
  absl::Time now_ = absl::UnixEpoch();
  JobProgress progress_;
  int workers_ = 0;
  size_t bytes_in_ = 0, bytes_out_ = 0;
  int64_t batches_ = 0, changes_ = 0;
  std::string wrong_;  // first
};

std::string GoOn(int steps, Simulation* simulation) {
  std::string wrong;
  for (int i = 0; i < steps && wrong.empty(); ++i) wrong = simulation->Step();
  return wrong;
}

struct Cluster {
  std::shared_ptr<const Topology> topology;
  RealCoordinator* coordinator = nullptr;
  std::optional<Simulation> simulation;
};

// A job on one to four workers, some way into its run. Returns: what does not hold.
std::string BeginRun(Random* random, Cluster* run) {
  run->topology = RandomTopology(random);
  auto coordinator = std::make_unique<RealCoordinator>(run->topology);
  run->coordinator = coordinator.get();
  const int workers = 1 + static_cast<int>(random->Below(4));
  run->simulation.emplace(run->topology, workers, random, std::move(coordinator));
  const std::string wrong = GoOn(90, &*run->simulation);
  return wrong.empty() ? run->coordinator->CheckEnd() : wrong;
}

std::string EndRun(Cluster* run, Simulation::Keep keep) {
  const std::string wrong = run->simulation->Drain(keep);
  return wrong.empty() ? run->coordinator->CheckEnd() : wrong;
}

TEST(SimulatedCluster, AJobIsCompletedOnceAllIsDone) {
  ForEachSeed(-1, [](uint64_t, Random* random) {
    Cluster run;
    const std::string wrong = BeginRun(random, &run);
    return wrong.empty() ? EndRun(&run, Simulation::Keep::kNothing) : wrong;
  });
}

TEST(SimulatedCluster, WhatOneWorkerHoldsKeepsFrontiersExactlyThere) {
  ForEachSeed(CurrentTestRun().graphs / 2, [](uint64_t, Random* random) {
    Cluster run;
    const std::string wrong = BeginRun(random, &run);
    return wrong.empty() ? EndRun(&run, Simulation::Keep::kOneCapability) : wrong;
  });
}

TEST(SimulatedCluster, WorkersJoinWhileItRuns) {
  ForEachSeed(CurrentTestRun().graphs / 2, [](uint64_t, Random* random) {
    Cluster run;
    std::string wrong = BeginRun(random, &run);
    if (wrong.empty()) wrong = run.simulation->Join();
    if (wrong.empty()) wrong = GoOn(45, &*run.simulation);
    return wrong.empty() ? EndRun(&run, Simulation::Keep::kNothing) : wrong;
  });
}

TEST(SimulatedCluster, LoopsOnOneWorkerNeedNoCoordinator) {
  ForEachSeed(CurrentTestRun().graphs / 2, [](uint64_t, Random* random) {
    const std::shared_ptr<const Topology> topology = RandomTopology(random);
    std::vector<VertexId> loops;
    for (size_t v = 0; v < topology->graph().vertices().size(); ++v) {
      const LogicalGraph::Vertex& vertex = topology->graph().vertices()[v];
      if (vertex.inputs.empty() || vertex.outputs.empty()) continue;
      if (vertex.outputs[0] != LogicalGraph::kRoot) {
        loops.push_back(VertexId(static_cast<int64_t>(v)));
      }
    }
    Simulation simulation(topology, 1 + static_cast<int>(random->Below(4)), random,
                          std::make_unique<RealCoordinator>(topology));
    simulation.GiveToOneWorker(loops);
    const std::string wrong = GoOn(90, &simulation);
    return wrong.empty() ? simulation.Drain(Simulation::Keep::kNothing) : wrong;
  });
}

TEST(SimulatedCluster, AFrameThatComesTwiceFailsTheJob) {
  int64_t twice = 0;
  ForEachSeed(CurrentTestRun().graphs / 2, [&](uint64_t, Random* random) -> std::string {
    Cluster run;
    std::string wrong = BeginRun(random, &run);
    if (!wrong.empty() || !run.simulation->RepeatAFrame()) return wrong;
    ++twice;
    wrong = GoOn(10, &*run.simulation);
    if (wrong.empty()) wrong = run.simulation->Drain(Simulation::Keep::kNothing);
    if (wrong.empty() && !run.simulation->noticed()) wrong = "a frame came twice";
    return wrong;
  });
  if (CurrentTestRun().graphs >= 200) {
    EXPECT_GT(twice, 20);
  }
}

}  // namespace
}  // namespace weir
