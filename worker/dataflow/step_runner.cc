#include "worker/dataflow/step_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "worker/device/cpu/compute_thread.h"

namespace weir {
namespace {

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
    stats_.iterations = task_.range.size();
    if (task_.profile) stats_.ops = std::make_shared<OpCounts>();
    const bool is_split = !step().extent().empty();
    if (is_split && task_.range.size() == 0) {
      AllocateOutputs();
      return Complete(absl::OkStatus());
    }
    const absl::Status chosen = Choose(threads);
    if (!chosen.ok()) return Complete(chosen);
    if (is_split) return RunChunks(pool);
    RunWhole();
  }

  absl::Status Choose(int threads) {
    if (step().extent().empty() && task_.memory_budget == 0 && !task_.profile) {
      return absl::OkStatus();
    }
    const ChunkingRequest request{
        .executable = &executable(),
        .function = step().function(),
        .symbols = &task_.symbols,
        .local = step().local(),
        .iterations = task_.range.size(),
        .threads = threads,
        .budget = task_.memory_budget,
        .detail = task_.profile ? ChunkingDetail::kPredictions : ChunkingDetail::kWhatIsNeeded};
    WEIR_ASSIGN_OR_RETURN(stats_.chunking, task_.program->chunkings[task_.step]->Choose(request));
    return absl::OkStatus();
  }

  void RunWhole() {
    Workspace workspace = TakeWorkspace();
    const absl::Status status =
        RunPart(task_.symbols, task_.operands, absl::MakeSpan(AllocateOutputs()), &workspace,
                &stats_.arena_bytes);
    ReturnWorkspace(std::move(workspace));
    Complete(status);
  }

  void RunChunks(ComputePool* pool) {
    AllocateOutputs();
    const int64_t chunk = stats_.chunking.chunk;
    stats_.chunks = (task_.range.size() + chunk - 1) / chunk;
    const int64_t lanes = stats_.chunking.threads;
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

  Workspace TakeWorkspace() const {
    Workspace workspace = task_.program->workspaces[task_.step]->Take();
    const int64_t limit = stats_.chunking.thread_budget;
    workspace.LimitArenas(limit > 0 ? limit : std::numeric_limits<int64_t>::max());
    return workspace;
  }

  void ReturnWorkspace(Workspace workspace) const {
    // The next step has the whole budget for itself.
    if (task_.memory_budget > 0) workspace.ReleaseArenas();
    task_.program->workspaces[task_.step]->Return(std::move(workspace));
  }

  // `arena_bytes` becomes the size of the arena if that is more.
  absl::Status RunPart(const SymbolBindings& symbols, absl::Span<const Tensor> operands,
                       absl::Span<Tensor> outputs, Workspace* workspace, int64_t* arena_bytes) {
    RunStats stats;
    std::optional<OpCounts> ops;
    if (task_.profile) stats.ops = &ops.emplace();
    RunOptions options;
    options.cancelled = task_.cancelled.get();
    PrintedLines lines;
    options.lines = &lines;
    const absl::Status status =
        executable().Run(symbols, operands, outputs, workspace, &stats, options);
    *arena_bytes = std::max(*arena_bytes, stats.arena_bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    if (ops.has_value()) stats_.ops->Add(*ops);
    if (!lines.empty()) AddLines(std::move(lines));
    stats_.kernel_launches += stats.kernel_launches;
    stats_.rows_run += stats.rows_run;
    stats_.rows_moved += stats.rows_moved;
    return status;
  }

  // REQUIRES: mutex_ is held.
  void AddLines(PrintedLines lines) {
    if (stats_.lines == nullptr) stats_.lines = std::make_shared<PrintedLines>();
    stats_.lines->Add(std::move(lines));
  }

  absl::Status RunChunk(int64_t begin, int64_t end, Workspace* workspace, int64_t* arena_bytes) {
    std::vector<Tensor> operands = {Tensor::Scalar<int64_t>(task_.range.begin + begin)};
    for (int i = 0; i < step().operands_size(); ++i) {
      const bool rows = step().operands(i).part() == v1::StepOperand::PART_ROWS;
      operands.push_back(rows ? task_.operands[i].Rows(begin, end) : task_.operands[i]);
    }
    std::vector<Tensor> outputs;
    for (const Tensor& output : outputs_) outputs.push_back(output.Rows(begin, end));
    return RunPart(SymbolsFor(end - begin), operands, absl::MakeSpan(outputs), workspace,
                   arena_bytes);
  }

  // Takes chunks until none is left; the last lane to end completes the step.
  void RunLane() {
    const int64_t iterations = task_.range.size();
    const int64_t chunk = stats_.chunking.chunk;
    int64_t arena_bytes = 0;
    Workspace workspace = TakeWorkspace();
    while (!failed_.load(std::memory_order_relaxed)) {
      const int64_t begin = next_.fetch_add(chunk);
      if (begin >= iterations) break;
      const absl::Status status =
          RunChunk(begin, std::min(begin + chunk, iterations), &workspace, &arena_bytes);
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex_);
      if (begin < failed_chunk_) {
        failed_chunk_ = begin;
        failure_ = status;
      }
      failed_ = true;
    }
    ReturnWorkspace(std::move(workspace));
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

void RunStep(StepTask task, ComputePool* pool, StepDone done) {
  auto execution = std::make_shared<StepExecution>(std::move(task), std::move(done));
  if (execution->is_short()) return execution->RunHere(pool);
  pool->Submit([execution, pool] { execution->Run(pool); });
}

}  // namespace weir
