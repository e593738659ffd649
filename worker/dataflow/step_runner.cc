#include "worker/dataflow/step_runner.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/status.h"
#include "worker/device/cpu/compute_thread.h"

namespace weir {
namespace {

// A thread that sleeps comes to a task after about half of this.
constexpr int64_t kWorthThreadsNs = 60'000;

// The state of one step while its chunks run.
class StepExecution {
 public:
  explicit StepExecution(StepTask task) : task_(std::move(task)) {}

  // Whether other threads come to it before it is over, if it takes what the last one took.
  bool is_worth_threads() const {
    const std::optional<int64_t> ns = pace().Predict(task_.range.size());
    return is_split() && ns.has_value() && *ns >= kWorthThreadsNs;
  }
  bool is_short() const { return pace().IsShort(task_.symbols, task_.range); }

  // Says how the step is cut. Returns: how many threads, at most those given, are to call RunLane,
  // each once.
  int64_t Begin(int threads) {
    start_ = RealClock()->Now();
    stats_.iterations = task_.range.size();
    if (task_.profile) stats_.ops = std::make_shared<OpCounts>();
    if (!is_split() || task_.range.size() > 0) failure_ = Choose(threads);
    if (failure_.ok()) failure_ = AllocateOutputs();
    failed_ = !failure_.ok();
    lanes_left_ = stats_.chunking.threads;
    return lanes_left_;
  }

  // Does a share of the work. Returns: whether this was the last lane, upon which the step is over.
  bool RunLane() {
    Work();
    if (lanes_left_.fetch_sub(1) != 1) return false;
    Finish();
    NoteWork(static_cast<int>(stats_.chunking.threads));
    return true;
  }

  // The same for threads that count themselves: each share, and then the end.
  void Work() {
    if (is_split()) {
      RunChunks();
    } else {
      RunWhole();
    }
  }
  void Finish() { stats_.run_ns = absl::ToInt64Nanoseconds(RealClock()->Now() - start_); }
  // What the step would have taken one thread.
  void NoteWork(int lanes) { pace().Took(task_.symbols, task_.range, stats_.run_ns * lanes); }

  // REQUIRES: the step is over.
  absl::StatusOr<std::vector<Tensor>> TakeOutputs() {
    // An output may lie where an operand did, and is its caller's alone.
    task_.operands.clear();
    if (!failure_.ok()) return failure_;
    return std::move(outputs_);
  }
  StepStats TakeStats() { return std::move(stats_); }

 private:
  const v1::Step& step() const { return task_.program->plan.steps(task_.step); }
  const Executable& executable() const { return *task_.program->steps[task_.step]; }
  StepPace& pace() const { return *task_.program->paces[task_.step]; }
  bool is_split() const { return !step().extent().empty(); }

  absl::Status Choose(int threads) {
    if (!is_split() && task_.memory_budget == 0 && !task_.profile) {
      return absl::OkStatus();
    }
    const ChunkingRequest request{
        .executable = &executable(),
        .function = step().function(),
        .symbols = &task_.symbols,
        .local = step().local(),
        .iterations = task_.range.size(),
        .threads = threads,
        .block = is_worth_threads() ? kSmallChunkBlock : kChunkBlock,
        .budget = task_.memory_budget,
        .detail = task_.profile ? ChunkingDetail::kPredictions : ChunkingDetail::kWhatIsNeeded};
    WEIR_ASSIGN_OR_RETURN(stats_.chunking, task_.program->chunkings[task_.step]->Choose(request));
    const int64_t chunk = stats_.chunking.chunk;
    if (is_split()) stats_.chunks = (task_.range.size() + chunk - 1) / chunk;
    return absl::OkStatus();
  }

  void RunWhole() {
    if (failed_) return;
    Workspace workspace = TakeWorkspace();
    failure_ = RunPart(task_.symbols, task_.operands, absl::MakeSpan(outputs_), &workspace,
                       &stats_.arena_bytes);
    ReturnWorkspace(std::move(workspace));
  }

  SymbolBindings SymbolsFor(int64_t iterations) const {
    SymbolBindings symbols = task_.symbols;
    symbols.insert_or_assign(step().local(), iterations);
    return symbols;
  }

  // Rows of a step that is split; the executable makes the others. What updates an operand that was
  // given away is made where that lies.
  absl::Status AllocateOutputs() {
    outputs_.resize(step().outputs_size());
    for (int i = 0; i < step().outputs_size(); ++i) {
      const int updated = executable().UpdatedInput(i) - (is_split() ? 1 : 0);
      if (updated >= 0 && IsGiven(updated)) {
        outputs_[i] = task_.operands[updated];
        continue;
      }
      if (!is_split()) continue;
      const TensorType& type = task_.program->types[step().outputs(i)];
      Extents extents = *type.shape.Evaluate(task_.symbols);
      extents[0] = task_.range.size();
      WEIR_ASSIGN_OR_RETURN(outputs_[i], Tensor::TryCreate(type.dtype, extents));
    }
    return absl::OkStatus();
  }

  bool IsGiven(int operand) const {
    const bool rows = step().operands(operand).part() == v1::StepOperand::PART_ROWS;
    return rows == is_split() && static_cast<size_t>(operand) < task_.given.size() &&
           task_.given[operand] && task_.operands[operand].is_contiguous();
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
    options.deadline = task_.deadline;
    PrintedLines lines;
    options.lines = &lines;
    absl::Status status;
    try {
      status = executable().Run(symbols, operands, outputs, workspace, &stats, options);
    } catch (const std::bad_alloc&) {
      *workspace = Workspace();  // it may have been left in the middle of something
      status = absl::ResourceExhaustedError(
          StrCat("there is no memory for what ", step().function(), " computes"));
    }
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

  // Takes chunks until none is left.
  void RunChunks() {
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
    std::lock_guard<std::mutex> lock(mutex_);
    stats_.arena_bytes += arena_bytes;
  }

  StepTask task_;
  absl::Time start_;
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

// A step that calls back once it is over.
struct PendingStep {
  PendingStep(StepTask task, StepDone done) : execution(std::move(task)), done(std::move(done)) {}

  void RunLane() {
    if (execution.RunLane()) done(execution.TakeOutputs(), execution.TakeStats());
  }

  StepExecution execution;
  const StepDone done;
};

// A step on the thread of somebody who waits for it, with helpers that may come too late.
class SharedStep {
 public:
  explicit SharedStep(StepTask task) : execution(std::move(task)) {}

  void Help() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      ++inside_;
      ++helpers_;
    }
    execution.Work();
    std::lock_guard<std::mutex> lock(mutex_);
    if (--inside_ == 0) left_.notify_all();
  }

  // Lets nobody in any more and waits for those inside. Returns: how many helped.
  int Close() {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    left_.wait(lock, [this] { return inside_ == 0; });
    return helpers_;
  }

  StepExecution execution;

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool closed_ = false;
  int inside_ = 0;
  int helpers_ = 0;  // all that came in
};

int ThreadsOf(absl::Span<ComputePool* const> pools) {
  int threads = 0;
  for (const ComputePool* pool : pools) threads += pool->threads();
  return threads;
}

}  // namespace

void RunStep(StepTask task, ComputePool* pool, StepDone done) {
  auto pending = std::make_shared<PendingStep>(std::move(task), std::move(done));
  if (pending->execution.is_short()) {
    cpu::LibrariesOnThisThread libraries;
    pending->execution.Begin(1);
    return pending->RunLane();
  }
  pool->Submit([pending, pool] {
    const int64_t lanes = pending->execution.Begin(pool->threads());
    for (int64_t lane = 1; lane < lanes; ++lane) pool->Submit([pending] { pending->RunLane(); });
    pending->RunLane();
  });
}

absl::StatusOr<std::vector<Tensor>> RunStepHere(StepTask task,
                                                absl::Span<ComputePool* const> helpers,
                                                StepStats* stats) {
  cpu::LibrariesOnThisThread libraries;
  const auto step = std::make_shared<SharedStep>(std::move(task));
  StepExecution& execution = step->execution;
  if (!execution.is_worth_threads()) helpers = {};
  int64_t wanted = execution.Begin(1 + ThreadsOf(helpers)) - 1;
  for (ComputePool* pool : helpers) {
    for (int i = 0; i < pool->threads() && wanted > 0; ++i, --wanted) {
      pool->Submit([step] { step->Help(); });
    }
  }
  execution.Work();
  const int helped = step->Close();
  execution.Finish();
  execution.NoteWork(1 + helped);
  *stats = execution.TakeStats();
  return execution.TakeOutputs();
}

}  // namespace weir
