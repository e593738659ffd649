// What flows cost on a worker, without a network: epochs through chains of vertices, and records
// through an exchange between two workers of one process, each with the coordinator's progress
// tracking as it is. One thread does everything, so times are sums over all parts.
#include <benchmark/benchmark.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "server/progress/job_progress.h"
#include "worker/flow/flow_table.h"

namespace weir {
namespace {

constexpr uint64_t kJob = 1;

// Workers and a coordinator that hand each other their messages at once.
class BenchCluster {
 public:
  BenchCluster(const std::string& text, int workers) {
    flow_ = std::make_shared<const Flow>(*ParseFlow(text));
    topology_ = *Topology::Of(GraphOf(*flow_));
    JobProgress::Setup setup;
    setup.job = kJob;
    progress_ = std::make_unique<JobProgress>(std::move(setup), topology_, now_);
    FlowSetup flow_setup;
    flow_setup.job = kJob;
    flow_setup.generation = 1;
    flow_setup.flow = flow_;
    flow_setup.topology = topology_;
    for (int w = 0; w < workers; ++w) flow_setup.peers.emplace_back().set_worker_id(w + 1);
    for (int w = 0; w < workers; ++w) {
      flow_setup.rank = w;
      flow_setup.grants = progress_->Join(w + 1, std::to_string(w), now_)->grants;
      workers_.push_back(std::make_unique<Worker>(this));
      workers_[w]->table.Deploy(kJob, 1, flow_setup, now_);
    }
    v1::CoordinatorMessage first;
    *first.mutable_frontiers() = *progress_->Start(now_);
    Broadcast(first);
    Settle();
  }

  void Feed(int worker, VertexId input, int64_t epoch, const RecordBatch& batch) {
    v1::CoordinatorMessage message;
    v1::FeedFlow* feed = message.mutable_feed_flow();
    feed->set_job(kJob);
    feed->set_generation(1);
    feed->set_vertex(static_cast<uint32_t>(input.value()));
    feed->set_epoch(epoch);
    *feed->mutable_batch() = HeaderOf(batch);
    workers_[worker]->table.OnCoordinatorMessage(message, PayloadsOf(batch), now_);
  }
  void Advance(VertexId input, int64_t epoch) {
    v1::CoordinatorMessage message;
    v1::AdvanceFlow* advance = message.mutable_advance_flow();
    advance->set_job(kJob);
    advance->set_generation(1);
    advance->set_vertex(static_cast<uint32_t>(input.value()));
    advance->set_epoch(epoch);
    Broadcast(message);
  }
  // Until nothing is left to do.
  void Settle() {
    do {
      has_news_ = false;
      for (const auto& worker : workers_) worker->table.Work(now_);
      for (const auto& worker : workers_) {
        for (auto& mail : std::exchange(worker->mail, {})) {
          has_news_ = true;
          workers_[mail.to]->table.OnPeerMessage(mail.message, std::move(mail.payloads), now_);
        }
      }
      if (has_batches_) {
        has_batches_ = false;
        if (auto update = progress_->Propagate(now_)) {
          v1::CoordinatorMessage message;
          *message.mutable_frontiers() = *std::move(update);
          Broadcast(message);
          has_news_ = true;
        }
      }
    } while (has_news_);
  }
  const Flow& flow() const { return *flow_; }
  const JobProgress& progress() const { return *progress_; }

 private:
  struct Mail {
    size_t to;
    v1::PeerMessage message;
    std::vector<Tensor> payloads;
  };
  struct Worker : public FlowTableOutbox {
    explicit Worker(BenchCluster* cluster) : cluster(cluster), table("w", 1, this) {}
    void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor>) override {
      cluster->Take(this, message);
    }
    void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                    std::vector<Tensor> payloads) override {
      mail.push_back({peer.worker_id() - 1, message, std::move(payloads)});
    }
    void RunCall(std::unique_ptr<FlowCall> call) override {
      RunFlowCall(call.get());
      table.OnCallDone(std::move(call), cluster->now_);
      cluster->has_news_ = true;
    }
    void WorkSoon() override { cluster->has_news_ = true; }

    BenchCluster* const cluster;
    FlowTable table;
    std::vector<Mail> mail;
  };

  void Broadcast(const v1::CoordinatorMessage& message) {
    for (const auto& worker : workers_) worker->table.OnCoordinatorMessage(message, {}, now_);
  }
  void Take(Worker* worker, const v1::WorkerMessage& message) {
    if (message.has_progress()) {
      for (size_t w = 0; w < workers_.size(); ++w) {
        if (workers_[w].get() != worker) continue;
        (void)progress_->OnBatch(w + 1, message.progress(), now_);
      }
      has_batches_ = true;
    } else if (message.has_flow_output()) {
      v1::CoordinatorMessage answer;
      v1::FlowOutputTaken* taken = answer.mutable_flow_output_taken();
      taken->set_job(kJob);
      taken->set_generation(1);
      taken->set_vertex(message.flow_output().vertex());
      int64_t bytes = 0;
      for (const v1::TensorHeader& header : message.flow_output().batch().columns()) {
        bytes += header.extents(0) * 8;
      }
      taken->set_bytes(bytes + message.flow_output().batch().origins().extents(0) * 8);
      worker->table.OnCoordinatorMessage(answer, {}, now_);
    }
  }

  absl::Time now_ = absl::UnixEpoch();
  std::shared_ptr<const Flow> flow_;
  std::shared_ptr<const Topology> topology_;
  std::unique_ptr<JobProgress> progress_;
  std::vector<std::unique_ptr<Worker>> workers_;
  bool has_news_ = false;
  bool has_batches_ = false;
};

std::string Chain(int length) {
  std::string text = "flow @chain {\n  %in = input() {types = [\"i64[]\"]}\n";
  std::string last = "in";
  for (int i = 0; i < length; ++i) {
    const std::string name = "v" + std::to_string(i);
    text += "  %" + name + " = concat(%" + last + ")\n";
    last = name;
  }
  return text + "  %out = output(%" + last + ")\n}\n";
}

RecordBatch Records(int64_t count) {
  Tensor keys(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) keys.mutable_data<int64_t>()[i] = i * 7919;
  return MakeBatch({keys});
}

// What workers sent of progress.
void CountProgress(benchmark::State& state, const BenchCluster& cluster) {
  state.counters["progress_bytes_per_epoch"] =
      static_cast<double>(cluster.progress().counters().bytes_in) /
      static_cast<double>(state.iterations());
}

// Epochs through a chain, with and without a record in each.
void BM_Chain(benchmark::State& state) {
  BenchCluster cluster(Chain(static_cast<int>(state.range(0))), 1);
  const VertexId in = cluster.flow().FindVertex("in");
  const RecordBatch record = Records(1);
  int64_t epoch = 0;
  for (auto _ : state) {
    if (state.range(1) > 0) cluster.Feed(0, in, epoch, record);
    cluster.Advance(in, ++epoch);
    cluster.Settle();
  }
  state.counters["us_per_epoch"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 1e-6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  CountProgress(state, cluster);
}
BENCHMARK(BM_Chain)->ArgsProduct({{10, 100}, {0, 1}})->ArgNames({"vertices", "records"});

// Records to the workers that have their keys; an epoch is complete before the next one begins.
void BM_Exchange(benchmark::State& state) {
  const int workers = static_cast<int>(state.range(1));
  BenchCluster cluster(
      "flow @exchange {\n  %in = input() {types = [\"i64[]\"]}\n"
      "  %moved = exchange(%in) {keys = 1}\n  %seen = probe(%moved)\n}\n",
      workers);
  const VertexId in = cluster.flow().FindVertex("in");
  const RecordBatch records = Records(state.range(0));
  int64_t epoch = 0;
  for (auto _ : state) {
    for (int w = 0; w < workers; ++w) cluster.Feed(w, in, epoch, records);
    cluster.Advance(in, ++epoch);
    cluster.Settle();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * workers);
  CountProgress(state, cluster);
}
BENCHMARK(BM_Exchange)
    ->ArgsProduct({{1, 1000, 100'000}, {1, 2, 4, 8}})
    ->ArgNames({"records", "workers"});

}  // namespace
}  // namespace weir

BENCHMARK_MAIN();
