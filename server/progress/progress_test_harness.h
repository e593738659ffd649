// A job's progress and workers that talk to it in bytes, as over a link; for tests.
#ifndef WEIR_SERVER_PROGRESS_PROGRESS_TEST_HARNESS_H_
#define WEIR_SERVER_PROGRESS_PROGRESS_TEST_HARNESS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/plan/progress_wire.h"
#include "common/timely/batch_sender.h"
#include "common/timely/frontier_view.h"
#include "gtest/gtest.h"
#include "server/progress/job_progress.h"

namespace weir {

// What the other side reads of a message.
template <class Message>
Message OverTheWire(const Message& message) {
  Message read;
  EXPECT_TRUE(read.ParseFromString(message.SerializeAsString()));
  return read;
}

// A worker's half, without kernels: tests say what activations do.
class ProgressTestWorker {
 public:
  ProgressTestWorker(std::shared_ptr<const Topology> topology, const v1::ProgressGrants& grants)
      : topology_(std::move(topology)),
        job_(grants.job()),
        generation_(grants.generation()),
        reachability_(topology_),
        sender_(&reachability_),
        view_(topology_, static_cast<int64_t>(grants.first_update())) {
    auto changes = GrantsFrom(OverTheWire(grants), *topology_);
    EXPECT_TRUE(changes.ok()) << changes.status();
    for (const Change& grant : *changes) sender_.Grant(grant.key, grant.delta);
  }

  void Report(std::vector<Change> activation) {
    const absl::Status status = sender_.Report(std::move(activation), absl::UnixEpoch());
    EXPECT_TRUE(status.ok()) << status;
  }
  void Take(const v1::FrontierUpdate& update) {
    auto taken = FrontierUpdateFrom(OverTheWire(update), *topology_);
    ASSERT_TRUE(taken.ok()) << taken.status();
    const absl::Status status = view_.Apply(*taken);
    EXPECT_TRUE(status.ok()) << status;
  }
  // All that was reported; a batch without changes has number 0.
  v1::ProgressBatch Flush() {
    const std::optional<ProgressBatch> batch = sender_.Flush();
    return Labelled(batch.has_value() ? *batch : ProgressBatch());
  }
  // Whatever this worker is not allowed to say.
  v1::ProgressBatch Claim(int64_t number, std::vector<Change> changes) const {
    return Labelled({number, std::move(changes)});
  }

  const FrontierView& view() const { return view_; }
  std::vector<Change> held() const { return sender_.held(); }

 private:
  v1::ProgressBatch Labelled(const ProgressBatch& batch) const {
    v1::ProgressBatch message = ToWire(batch);
    message.set_job(job_);
    message.set_generation(generation_);
    return OverTheWire(message);
  }

  const std::shared_ptr<const Topology> topology_;
  const uint64_t job_;
  const uint64_t generation_;
  Reachability reachability_;
  BatchSender sender_;
  FrontierView view_;
};

// source 'images' -> 'load' -> 'join' (twice: through 'map' as well) -> 'sink'; job 7.
class ProgressTestJob {
 public:
  static constexpr uint64_t kJob = 7;

  explicit ProgressTestJob(int workers, uint64_t generation = 1, int64_t first_epoch = 0) {
    LogicalGraph graph;
    images = graph.AddSource("images");
    load = graph.AddVertex("load", LogicalGraph::kRoot, 1, 1);
    map = graph.AddVertex("map", LogicalGraph::kRoot, 1, 1);
    join = graph.AddVertex("join", LogicalGraph::kRoot, 2, 1);
    sink = graph.AddVertex("sink", LogicalGraph::kRoot, 1, 0);
    graph.Connect({images, 0}, {load, 0});
    graph.Connect({load, 0}, {map, 0});
    graph.Connect({load, 0}, {join, 0});
    graph.Connect({map, 0}, {join, 1});
    graph.Connect({join, 0}, {sink, 0});
    topology = *Topology::Of(std::move(graph));
    JobProgress::Setup setup;
    setup.job = kJob;
    setup.generation = generation;
    setup.first_epoch = first_epoch;
    setup.clients = {{images, "feeder"}};
    progress.emplace(std::move(setup), topology, now);
    for (int w = 1; w <= workers; ++w) Join(w);
    auto first = progress->Start(now);
    EXPECT_TRUE(first.ok()) << first.status();
    for (auto& [id, worker] : this->workers) worker->Take(*first);
  }

  // Workers are 'a', 'b', ... with ids 1, 2, ...
  void Join(uint64_t id) {
    auto joined = progress->Join(id, std::string(1, static_cast<char>('a' + id - 1)), now);
    ASSERT_TRUE(joined.ok()) << joined.status();
    workers[id] = std::make_unique<ProgressTestWorker>(topology, joined->grants);
    if (joined->update.has_value()) workers[id]->Take(*joined->update);
  }

  LocationId out() const { return topology->output(images, 0); }
  LocationId in(VertexId vertex, int number = 0) const { return topology->input(vertex, number); }

  // The worker's activation, heard of at once.
  absl::Status Do(uint64_t id, std::vector<Change> activation) {
    workers[id]->Report(std::move(activation));
    return progress->OnBatch(id, workers[id]->Flush(), now);
  }
  void Propagate() {
    const std::optional<v1::FrontierUpdate> update = progress->Propagate(now);
    if (!update.has_value()) return;
    for (const uint64_t id : progress->working()) workers[id]->Take(*update);
  }

  VertexId images, load, map, join, sink;
  std::shared_ptr<const Topology> topology;
  absl::Time now = absl::UnixEpoch() + absl::Hours(1);
  std::optional<JobProgress> progress;
  std::map<uint64_t, std::unique_ptr<ProgressTestWorker>> workers;
};

}  // namespace weir

#endif  // WEIR_SERVER_PROGRESS_PROGRESS_TEST_HARNESS_H_
