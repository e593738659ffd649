#include "server/api/metrics.h"

#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"

namespace weir {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Sample {
  std::string label;
  int64_t value;
};

MetricFamily Figures(std::string name, std::string help, MetricType type, std::string label,
                     const std::vector<Sample>& samples) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  for (const Sample& sample : samples) {
    ClientMetric metric;
    if (!label.empty()) metric.label.push_back({label, sample.label});
    metric.counter.value = static_cast<double>(sample.value);
    metric.gauge.value = static_cast<double>(sample.value);
    family.metric.push_back(std::move(metric));
  }
  return family;
}

std::vector<MetricFamily> FlowFigures(const FlowStats& flows) {
  const ProgressCounters& progress = flows.progress;
  return {
      Figures("weir_flows", "Flows that have not ended.", MetricType::Gauge, "",
              {{"", flows.deployed}}),
      Figures("weir_flow_clients", "Clients that are attached to flows.", MetricType::Gauge, "",
              {{"", flows.clients}}),
      Figures("weir_flow_records_total", "Records that went into and came out of flows.",
              MetricType::Counter, "direction",
              {{"in", flows.records_in}, {"out", flows.records_out}}),
      Figures("weir_flow_bytes", "What flows keep on workers, as these last said.",
              MetricType::Gauge, "place",
              {{"memory", flows.kept_bytes}, {"disk", flows.spilled_bytes}}),
      Figures("weir_flow_epochs_total", "Epochs that were completed at outputs.",
              MetricType::Counter, "", {{"", flows.epochs}}),
      Figures("weir_progress_bytes_total",
              "Bytes of progress tracking: batches of workers in, frontiers out.",
              MetricType::Counter, "direction",
              {{"in", progress.bytes_in}, {"out", progress.bytes_out}}),
      Figures("weir_progress_batches_total", "Batches of progress, by what became of them.",
              MetricType::Counter, "outcome",
              {{"taken", progress.batches}, {"refused", progress.refused}}),
      Figures("weir_progress_changes_total", "Changes of counts in the batches that were taken.",
              MetricType::Counter, "", {{"", progress.changes}}),
      Figures("weir_progress_updates_total", "Updates of frontiers, each counted once.",
              MetricType::Counter, "", {{"", progress.updates}}),
      Figures("weir_progress_frontier_moves_total", "Elements of frontiers that came or went.",
              MetricType::Counter, "", {{"", progress.frontier_moves}}),
  };
}

MetricFamily VariableFigures(const CoordinatorStats& stats) {
  std::vector<Sample> samples;
  for (const auto& [worker, bytes] : stats.variable_bytes) samples.push_back({worker, bytes});
  return Figures("weir_variable_bytes", "Bytes of the variables that each worker owns.",
                 MetricType::Gauge, "worker", samples);
}

std::vector<MetricFamily> CoordinatorFigures(const CoordinatorStats& stats) {
  auto ended = [&stats](v1::Job::State state) {
    auto it = stats.jobs_ended.find(state);
    return it == stats.jobs_ended.end() ? 0 : it->second;
  };
  return {
      Figures("weir_jobs_accepted_total", "Jobs accepted.", MetricType::Counter, "",
              {{"", stats.jobs_accepted}}),
      Figures("weir_jobs_ended_total", "Jobs that have ended, by state.", MetricType::Counter,
              "state",
              {{"succeeded", ended(v1::Job::SUCCEEDED)},
               {"failed", ended(v1::Job::FAILED)},
               {"cancelled", ended(v1::Job::CANCELLED)}}),
      Figures("weir_jobs", "Jobs that have not ended, by state.", MetricType::Gauge, "state",
              {{"queued", stats.jobs_queued}, {"running", stats.jobs_running}}),
      Figures("weir_workers", "Connected workers, by state.", MetricType::Gauge, "state",
              {{"ready", stats.workers_ready}, {"draining", stats.workers_draining}}),
      Figures("weir_workers_lost_total", "Workers lost.", MetricType::Counter, "",
              {{"", stats.workers_lost}}),
      Figures("weir_compilations_total", "Programs compiled.", MetricType::Counter, "",
              {{"", stats.compilations}}),
      VariableFigures(stats),
      Figures("weir_coordinator_tensor_bytes_total",
              "Tensor bytes through the coordinator, by kind; other is what nobody needs there.",
              MetricType::Counter, "kind",
              {{"feed", stats.feed_bytes},
               {"result", stats.result_bytes},
               {"other", stats.other_tensor_bytes}}),
  };
}

const prometheus::Histogram::BucketBoundaries& Buckets() {
  static const auto* const buckets = new prometheus::Histogram::BucketBoundaries{
      0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};
  return *buckets;
}

}  // namespace

ServerMetrics::ServerMetrics(Coordinator* coordinator)
    : coordinator_(coordinator),
      calls_(prometheus::BuildCounter()
                 .Name("weir_rpc_total")
                 .Help("Calls that have ended, by method and status.")
                 .Register(registry_)),
      seconds_(prometheus::BuildHistogram()
                   .Name("weir_rpc_seconds")
                   .Help("Duration of calls, by method.")
                   .Register(registry_)) {}

void ServerMetrics::CountCall(const std::string& method, int code, absl::Duration duration) {
  const std::string status = absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
  calls_.Add({{"method", method}, {"code", status}}).Increment();
  seconds_.Add({{"method", method}}, Buckets()).Observe(absl::ToDoubleSeconds(duration));
}

std::string ServerMetrics::Text() const {
  std::vector<MetricFamily> families = registry_.Collect();
  const CoordinatorStats stats = coordinator_->Stats();
  for (MetricFamily& family : CoordinatorFigures(stats)) families.push_back(std::move(family));
  for (MetricFamily& family : FlowFigures(stats.flows)) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace weir
