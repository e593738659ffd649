#include "worker/dataflow/step_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "common/base/status.h"
#include "worker/device/cpu/compute_thread.h"

namespace weir {
namespace {

// Half of a second-level cache: what a chunk touches besides its arena (operands, weights) takes
// the rest.
constexpr int64_t kCacheBytes = int64_t{1} << 20;
// Kernels handle rows in blocks of this many, or of a part.
constexpr int64_t kBlock = 48;

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// The state of one step while its chunks run.
class StepExecution : public std::enable_shared_from_this<StepExecution> {
 public:
  StepExecution(StepTask task, StepDone done) : task_(std::move(task)), done_(std::move(done)) {}

  bool is_short() const { return pace().IsShort(task_.symbols, task_.range); }

  // On as many threads of the pool as there is work for.
  void Run(ComputePool* pool) { Run(pool, pool->threads()); }

  void RunHere(ComputePool* pool) {
    cpu::KeepLibrariesOnThisThread();
    Run(pool, 1);
  }

 private:
  const v1::Step& step() const { return task_.program->plan.steps(task_.step); }
  const Executable& executable() const { return *task_.program->steps[task_.step]; }
  StepPace& pace() const { return *task_.program->paces[task_.step]; }

  void Run(ComputePool* pool, int threads) {
    start_ns_ = NowNs();
    if (step().extent().empty()) return RunWhole();
    RunChunks(pool, threads);
  }

  void RunWhole() {
    Complete(RunPart({}, task_.operands, absl::MakeSpan(AllocateOutputs()), &stats_.arena_bytes));
  }

  void RunChunks(ComputePool* pool, int threads) {
    AllocateOutputs();
    const int64_t iterations = task_.range.size();
    if (iterations == 0) return Complete(absl::OkStatus());
    absl::StatusOr<int64_t> bytes = BytesPerIteration();
    if (!bytes.ok()) return Complete(bytes.status());
    chunk_ = ChooseChunk(iterations, *bytes, threads);
    stats_.chunks = (iterations + chunk_ - 1) / chunk_;
    const int64_t lanes = std::min<int64_t>(threads, stats_.chunks);
    lanes_left_ = lanes;
    for (int64_t lane = 1; lane < lanes; ++lane) {
      pool->Submit([self = shared_from_this()] { self->RunLane(); });
    }
    RunLane();
  }

  SymbolBindings SymbolsFor(int64_t iterations) const {
    SymbolBindings symbols = task_.symbols;
    symbols.insert_or_assign(step().local(), iterations);
    return symbols;
  }

  std::vector<Tensor>& AllocateOutputs() {
    outputs_.resize(step().outputs_size());
    if (step().extent().empty()) return outputs_;
    for (int i = 0; i < step().outputs_size(); ++i) {
      const TensorType type = *TensorType::Parse(
          task_.program->plan.values(static_cast<int>(step().outputs(i))).type());
      Extents extents = *type.shape.Evaluate(task_.symbols);
      extents[0] = task_.range.size();
      outputs_[i] = Tensor(type.dtype, extents);
    }
    return outputs_;
  }

  absl::StatusOr<int64_t> BytesPerIteration() const {
    WEIR_ASSIGN_OR_RETURN(const int64_t one, executable().ArenaBytes(SymbolsFor(kBlock)));
    WEIR_ASSIGN_OR_RETURN(const int64_t two, executable().ArenaBytes(SymbolsFor(2 * kBlock)));
    return std::max<int64_t>(1, (two - one) / kBlock);
  }

  // `arena_bytes` becomes the size of the arena if that is more.
  absl::Status RunPart(const SymbolBindings& extra, absl::Span<const Tensor> operands,
                       absl::Span<Tensor> outputs, int64_t* arena_bytes) {
    RunStats stats;
    RunOptions options;
    options.cancelled = task_.cancelled.get();
    Workspace workspace = task_.program->workspaces[task_.step]->Take();
    const absl::Status status = executable().Run(extra.empty() ? task_.symbols : extra, operands,
                                                 outputs, &workspace, &stats, options);
    task_.program->workspaces[task_.step]->Return(std::move(workspace));
    *arena_bytes = std::max(*arena_bytes, stats.arena_bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    stats_.kernel_launches += stats.kernel_launches;
    stats_.rows_run += stats.rows_run;
    stats_.rows_moved += stats.rows_moved;
    return status;
  }

  absl::Status RunChunk(int64_t begin, int64_t end, int64_t* arena_bytes) {
    std::vector<Tensor> operands = {Tensor::Scalar<int64_t>(task_.range.begin + begin)};
    for (int i = 0; i < step().operands_size(); ++i) {
      const bool rows = step().operands(i).part() == v1::StepOperand::PART_ROWS;
      operands.push_back(rows ? task_.operands[i].Rows(begin, end) : task_.operands[i]);
    }
    std::vector<Tensor> outputs;
    for (const Tensor& output : outputs_) outputs.push_back(output.Rows(begin, end));
    return RunPart(SymbolsFor(end - begin), operands, absl::MakeSpan(outputs), arena_bytes);
  }

  // Takes chunks until none is left; the last lane to end completes the step.
  void RunLane() {
    const int64_t iterations = task_.range.size();
    int64_t arena_bytes = 0;
    while (!failed_.load(std::memory_order_relaxed)) {
      const int64_t begin = next_.fetch_add(chunk_);
      if (begin >= iterations) break;
      const absl::Status status =
          RunChunk(begin, std::min(begin + chunk_, iterations), &arena_bytes);
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex_);
      if (begin < failed_chunk_) {
        failed_chunk_ = begin;
        failure_ = status;
      }
      failed_ = true;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stats_.arena_bytes += arena_bytes;
    }
    if (lanes_left_.fetch_sub(1) == 1) Complete(failure_);
  }

  void Complete(const absl::Status& status) {
    stats_.run_ns = NowNs() - start_ns_;
    pace().Took(task_.symbols, task_.range, stats_.run_ns);
    if (!status.ok()) return done_(status, stats_);
    done_(std::move(outputs_), stats_);
  }

  const StepTask task_;
  const StepDone done_;
  int64_t start_ns_ = 0;
  std::vector<Tensor> outputs_;
  int64_t chunk_ = 0;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> lanes_left_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards what follows
  // Of the chunks that failed the first one in the range: all before it were run.
  int64_t failed_chunk_ = std::numeric_limits<int64_t>::max();
  absl::Status failure_;
  StepStats stats_;
};

}  // namespace

int64_t ChooseChunk(int64_t iterations, int64_t bytes, int threads) {
  int64_t chunk = std::max(kBlock, kCacheBytes / std::max<int64_t>(1, bytes) / kBlock * kBlock);
  const int64_t share = (iterations + threads - 1) / threads;
  const int64_t rounded = (share + kBlock - 1) / kBlock * kBlock;
  return std::min(chunk, std::max(kBlock, rounded));
}

void RunStep(StepTask task, ComputePool* pool, StepDone done) {
  auto execution = std::make_shared<StepExecution>(std::move(task), std::move(done));
  if (execution->is_short()) return execution->RunHere(pool);
  pool->Submit([execution, pool] { execution->Run(pool); });
}

}  // namespace weir
