// Progress of a job: a batch from one of its two workers while it runs, which is taken or ends that
// worker's part; the same bytes as an update and as grants for a worker.
#include <memory>
#include <optional>
#include <utility>

#include "common/timely/frontier_view.h"
#include "server/progress/explain_progress.h"
#include "server/progress/job_progress.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

constexpr uint64_t kWorker = 2;

// A source, and behind it a loop and a vertex.
std::shared_ptr<const Topology> Loop() {
  LogicalGraph graph;
  const VertexId source = graph.AddSource("source");
  const ScopeId loop = graph.AddScope(LogicalGraph::kRoot, "loop");
  const VertexId enter = graph.AddEnter("enter", loop);
  const VertexId step = graph.AddVertex("step", loop, 2, 1);
  const VertexId back = graph.AddFeedback("back", loop);
  const VertexId leave = graph.AddLeave("leave", loop);
  const VertexId sink = graph.AddVertex("sink", LogicalGraph::kRoot, 2, 0);
  graph.Connect({source, 0}, {enter, 0});
  graph.Connect({enter, 0}, {step, 0});
  graph.Connect({step, 0}, {back, 0});
  graph.Connect({back, 0}, {step, 1});
  graph.Connect({step, 0}, {leave, 0});
  graph.Connect({leave, 0}, {sink, 0});
  graph.Connect({source, 0}, {sink, 1});
  return *Topology::Of(std::move(graph));
}

const Topology& TheLoop() {
  static const auto* const topology = new std::shared_ptr<const Topology>(Loop());
  return **topology;
}

v1::ProgressBatch Batch(std::vector<Change> changes) {
  v1::ProgressBatch batch = ToWire(ProgressBatch{1, std::move(changes)});
  batch.set_job(1);
  batch.set_generation(1);
  return batch;
}

const google::protobuf::Message* Prototype() { return &v1::ProgressBatch::default_instance(); }

std::vector<std::string> Seeds() {
  const Topology& topology = TheLoop();
  const LocationId out = topology.output(VertexId(0), 0);
  const LocationId enter = topology.input(VertexId(1), 0);
  const LocationId step = topology.input(VertexId(2), 1);
  const v1::FrontierUpdate update =
      ToWire(FrontierUpdate{1, {{{enter, {1}}, 1}, {{step, {1, 0}}, 1}, {{enter, {0}}, -1}}});
  return {Batch({{{out, {0}}, -1}, {{out, {1}}, 1}}).SerializeAsString(),
          Batch({{{out, {0}}, -1}, {{enter, {0}}, 1}}).SerializeAsString(),
          Batch({{{enter, {0}}, -1}, {{step, {0, 3}}, 1}}).SerializeAsString(),
          update.SerializeAsString()};
}

void TakeAsBatch(const v1::ProgressBatch& batch) {
  const std::shared_ptr<const Topology> topology = Loop();
  const absl::Time now = absl::UnixEpoch();
  JobProgress job({.job = 1}, topology, now);
  Require(job.Join(1, "a", now).ok() && job.Join(kWorker, "b", now).ok(), "workers join");
  FrontierView view(topology);
  const auto take = [&](const v1::FrontierUpdate& update) {
    const auto read = FrontierUpdateFrom(update, *topology);
    Require(read.ok() && view.Apply(*read).ok(), "what is told can be read and never goes back");
  };
  take(*job.Start(now));
  const bool taken = job.OnBatch(kWorker, batch, now).ok();
  const bool works = job.workers().at(kWorker).part == JobProgress::Part::kWorking;
  Require(!taken || works, "a worker whose batch is taken goes on");
  if (const auto update = job.Propagate(now)) take(*update);
  if (job.state() == JobProgress::State::kFailed) return;
  Require(WaitsOf(job).empty() == (job.state() == JobProgress::State::kCompleted),
          "a job that is not completed waits for something");
  Require(taken || job.tracker().active() == 1, "what is refused changes nothing");
  (void)Dump(job, WaitsOf(job), now);
}

}  // namespace

WEIR_FUZZ_TARGET(progress, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::ProgressBatch batch;
  if (batch.ParseFromArray(data, static_cast<int>(size))) TakeAsBatch(batch);
  v1::FrontierUpdate update;
  if (update.ParseFromArray(data, static_cast<int>(size))) {
    FrontierView view(Loop());
    const auto read = FrontierUpdateFrom(update, TheLoop());
    if (read.ok()) (void)view.Apply(*read);
  }
  v1::ProgressGrants grants;
  if (grants.ParseFromArray(data, static_cast<int>(size))) (void)GrantsFrom(grants, TheLoop());
  return 0;
}

}  // namespace weir
