// How many epochs per second the progress tracking of one job sustains on one core.
//
//   timely_tracker_bench [--benchmark_filter=...]
//
// A coordinator with 1,000 workers and a job of 100 vertices; each worker reports 20 changes per
// epoch: it closes the epoch at the source and passes frames on at 9 vertices, other ones for each
// worker, so that nothing cancels before it reaches the coordinator. `merged` is how many batches
// the tracker takes before it works out the frontiers (a coordinator takes what has arrived).
// Checked means that each batch is also compared with what its worker holds.
//
// Target: 1,000 epochs per second, that is 20 million changes per second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "common/timely/batch_receiver.h"
#include "common/timely/inner_frontiers.h"
#include "common/timely/reachability.h"
#include "common/timely/tracker.h"
#include "tests/bench/chain_job.h"

namespace weir {
namespace {

constexpr int kWorkers = ChainJob::kWorkers;
constexpr int kBusy = ChainJob::kBusy;
constexpr int kPerWorker = ChainJob::kPerWorker;

// What each worker says of epoch 0.
std::vector<ProgressBatch> FirstBatches(const ChainJob& job) {
  std::vector<ProgressBatch> batches(kWorkers);
  for (int w = 0; w < kWorkers; ++w) {
    ChangeBatch<Pointstamp> changes;
    changes.Add({job.out(), {1}}, 1);
    changes.Add({job.out(), {0}}, -1);
    for (int k = 0; k < kPerWorker; ++k) {
      const int at = (w + k * (kBusy / kPerWorker)) % kBusy;
      changes.Add({job.in(at), {0}}, -1);
      // The last one passes on to the first of the next lap, so that what comes in goes out.
      changes.Add({job.in((at + 1) % kBusy), {0}}, 1);
    }
    const absl::Span<const Change> merged = changes.Merge();
    batches[w] = {1, {merged.begin(), merged.end()}};
  }
  // In no order, so that what has arrived at some moment does not add up to nothing.
  std::shuffle(batches.begin(), batches.end(), std::mt19937(1));
  return batches;
}

void Advance(std::vector<ProgressBatch>* batches) {
  for (ProgressBatch& batch : *batches) {
    ++batch.sequence;
    for (Change& change : batch.changes) change.key.time = Timestamp{change.key.time.epoch() + 1};
  }
}

enum class Batches { kTrusted, kChecked };

void RunEpochs(benchmark::State& state, Batches kind) {
  const ChainJob job;
  Reachability reachability(job.topology);
  Tracker tracker(job.topology);
  std::vector<BatchReceiver> receivers(kWorkers, BatchReceiver(&reachability));
  for (BatchReceiver& receiver : receivers) {
    receiver.Grant({job.out(), {0}}, 1);
    tracker.Update(job.out(), {0}, 1);
  }
  tracker.Propagate();
  std::vector<ProgressBatch> batches = FirstBatches(job);
  int64_t changes = 0, told = 0;
  for (auto _ : state) {
    for (int w = 0; w < kWorkers; ++w) {
      if (kind == Batches::kChecked && !receivers[w].Accept(batches[w]).ok())
        state.SkipWithError("refused");
      for (const Change& change : batches[w].changes) {
        tracker.Update(change.key.location, change.key.time, change.delta);
      }
      changes += static_cast<int64_t>(batches[w].changes.size());
      if ((w + 1) % state.range(0) == 0) told += static_cast<int64_t>(tracker.Propagate().size());
    }
    state.PauseTiming();
    Advance(&batches);
    state.ResumeTiming();
  }
  if (tracker.active() != 1) state.SkipWithError("something is left");
  state.SetItemsProcessed(changes);
  const double epochs = static_cast<double>(state.iterations());
  state.counters["epochs"] = benchmark::Counter(epochs, benchmark::Counter::kIsRate);
  state.counters["pops"] = static_cast<double>(tracker.pops()) / epochs;
  state.counters["told"] = static_cast<double>(told) / epochs;
}

// One trip of a loop of `vertices` that lies on one worker: a frame goes round once, and each trip
// is complete at every vertex before the next one. Nothing is asked of the coordinator.
void BM_InnerTrip(benchmark::State& state) {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  std::vector<VertexId> part = {graph.AddEnter("enter", loop), graph.AddVertex("head", loop, 2, 1)};
  graph.Connect({source, 0}, {part[0], 0});
  graph.Connect({part[0], 0}, {part[1], 0});
  while (static_cast<int64_t>(part.size()) <= state.range(0)) {
    const bool is_last = static_cast<int64_t>(part.size()) == state.range(0);
    part.push_back(is_last ? graph.AddFeedback("feedback", loop)
                           : graph.AddVertex("vertex", loop, 1, 1));
    graph.Connect({part[part.size() - 2], 0}, {part.back(), 0});
  }
  graph.Connect({part.back(), 0}, {part[1], 1});
  const std::shared_ptr<const Topology> topology = *Topology::Of(std::move(graph));
  std::vector<int> part_of(topology->graph().vertices().size(), -1);
  for (const VertexId vertex : part) part_of[vertex.value()] = 0;
  InnerFrontiers inner(topology, part_of);
  inner.Apply({1, {{{topology->input(part[0], 0), {1}}, 1}}});
  const LocationId back = topology->input(part[1], 1);
  inner.Update(back, {0, 0}, 1);
  inner.Propagate();
  int64_t trip = 0;
  for (auto _ : state) {
    for (size_t i = 1; i < part.size(); ++i) {
      const bool is_back = i + 1 == part.size();
      inner.Update(i == 1 ? back : topology->input(part[i], 0), {0, trip}, -1);
      inner.Update(is_back ? back : topology->input(part[i + 1], 0), {0, trip + is_back}, 1);
      inner.Propagate();
    }
    if (!inner.IsComplete(back, {0, trip++})) state.SkipWithError("not complete");
  }
  state.counters["pops"] = static_cast<double>(inner.pops()) / static_cast<double>(trip);
}

void BM_Tracker(benchmark::State& state) { RunEpochs(state, Batches::kTrusted); }
void BM_CheckedTracker(benchmark::State& state) { RunEpochs(state, Batches::kChecked); }

BENCHMARK(BM_Tracker)->ArgName("merged")->Arg(1)->Arg(10)->Arg(100)->Arg(kWorkers);
BENCHMARK(BM_CheckedTracker)->ArgName("merged")->Arg(1)->Arg(100)->Arg(kWorkers);
BENCHMARK(BM_InnerTrip)->ArgName("vertices")->Arg(5)->Arg(50);

}  // namespace
}  // namespace weir

BENCHMARK_MAIN();
