// How many epochs per second the coordinator's half of one job sustains on one core, from bytes to
// bytes: each batch is parsed, unpacked, checked against what its worker holds and counted, and
// each update is packed and encoded once.
//
//   job_progress_bench [--benchmark_filter=...]
//
// The job is that of timely_tracker_bench.cc: 100 vertices, 1,000 workers, and 20 changes of each
// worker per epoch, in random order. `merged` is how many batches are taken before frontiers are
// worked out. BM_Stage says what each stage costs by itself.
//
// Target: 1,000 epochs per second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "server/progress/job_progress.h"
#include "tests/bench/chain_job.h"

namespace weir {
namespace {

constexpr int kWorkers = ChainJob::kWorkers;
constexpr int kBusy = ChainJob::kBusy;
constexpr int kPerWorker = ChainJob::kPerWorker;
constexpr uint64_t kJob = 17;

struct Sent {
  uint64_t worker = 0;
  std::string bytes;
};

// What each worker says of an epoch, in no order.
std::vector<Sent> BatchesOf(const ChainJob& job, int64_t epoch) {
  const LocationId out = job.out();
  std::vector<Sent> sent(kWorkers);
  for (int w = 0; w < kWorkers; ++w) {
    ChangeBatch<Pointstamp> changes;
    changes.Add({out, {epoch + 1}}, 1);
    changes.Add({out, {epoch}}, -1);
    for (int k = 0; k < kPerWorker; ++k) {
      const int at = (w + k * (kBusy / kPerWorker)) % kBusy;
      changes.Add({job.in(at), {epoch}}, -1);
      // The last one passes on to the first of the next lap, so that what comes in goes out.
      changes.Add({job.in((at + 1) % kBusy), {epoch}}, 1);
    }
    const absl::Span<const Change> merged = changes.Merge();
    v1::ProgressBatch message = ToWire(ProgressBatch{epoch + 1, {merged.begin(), merged.end()}});
    message.set_job(kJob);
    message.set_generation(1);
    sent[w] = {static_cast<uint64_t>(w), message.SerializeAsString()};
  }
  std::shuffle(sent.begin(), sent.end(), std::mt19937(1));
  return sent;
}

std::unique_ptr<JobProgress> Started(const ChainJob& job) {
  auto progress =
      std::make_unique<JobProgress>(JobProgress::Setup{.job = kJob}, job.topology, absl::Now());
  for (int w = 0; w < kWorkers; ++w) {
    (void)progress->Join(static_cast<uint64_t>(w), "worker", absl::Now());
  }
  (void)progress->Start(absl::Now());
  return progress;
}

void BM_JobProgress(benchmark::State& state) {
  const ChainJob job;
  const std::unique_ptr<JobProgress> progress = Started(job);
  int64_t epoch = 0;
  size_t told = 0;
  std::vector<Sent> sent;
  for (auto _ : state) {
    state.PauseTiming();
    sent = BatchesOf(job, epoch++);
    state.ResumeTiming();
    const absl::Time now = absl::Now();
    for (int i = 0; i < kWorkers; ++i) {
      v1::ProgressBatch batch;
      batch.ParseFromString(sent[i].bytes);
      const absl::Status status = progress->OnBatch(sent[i].worker, batch, now);
      if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
      if ((i + 1) % state.range(0) != 0) continue;
      const auto update = progress->Propagate(now);
      if (update.has_value()) told += update->SerializeAsString().size();
    }
  }
  if (progress->tracker().active() != 1) state.SkipWithError("something is left");
  const double epochs = static_cast<double>(state.iterations());
  const ProgressCounters counters = progress->counters();
  state.counters["epochs"] = benchmark::Counter(epochs, benchmark::Counter::kIsRate);
  state.counters["in"] = static_cast<double>(counters.bytes_in) / epochs / kWorkers;
  state.counters["out"] = static_cast<double>(told) / epochs;
  state.counters["pops"] = static_cast<double>(counters.pops) / epochs;
}

// The same bytes each time: what one epoch costs up to the end of a stage.
enum Stage { kParse, kUnpack };

void BM_Stage(benchmark::State& state) {
  const ChainJob job;
  const std::vector<Sent> sent = BatchesOf(job, 5);
  for (auto _ : state) {
    for (const Sent& each : sent) {
      v1::ProgressBatch batch;
      batch.ParseFromString(each.bytes);
      if (state.range(0) == kParse) continue;
      if (!ProgressBatchFrom(batch, *job.topology).ok()) state.SkipWithError("refused");
    }
  }
  state.SetLabel(state.range(0) == kParse ? "parsed" : "parsed and unpacked");
}

BENCHMARK(BM_JobProgress)->ArgName("merged")->Arg(1)->Arg(10)->Arg(100)->Arg(kWorkers);
BENCHMARK(BM_Stage)->ArgName("stage")->Arg(kParse)->Arg(kUnpack);

}  // namespace
}  // namespace weir

BENCHMARK_MAIN();
