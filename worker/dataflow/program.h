// A plan as a worker holds it: the parsed functions and, for each step, what runs it. Shared
// between the core and the compute threads; immutable once ready, but for
// what the core keeps here.
#ifndef WEIR_WORKER_DATAFLOW_PROGRAM_H_
#define WEIR_WORKER_DATAFLOW_PROGRAM_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/printed_lines.h"
#include "common/ir/graph.h"
#include "common/plan/routing.h"
#include "common/tensor/tensor.h"
#include "weir/v1/plan.pb.h"
#include "worker/dataflow/chunking.h"
#include "worker/executor/executable.h"
#include "worker/executor/op_counts.h"

namespace weir {

// Workspaces of one executable that no thread uses at the moment. Thread-safe.
class WorkspacePool {
 public:
  Workspace Take();
  void Return(Workspace workspace);

 private:
  std::mutex mutex_;
  std::vector<Workspace> free_;
};

// How long a step took the last time. Thread-safe.
class StepPace {
 public:
  // `varies`: the step may take another time for other values of the same extents.
  explicit StepPace(bool varies) : varies_(varies) {}

  // Returns: whether it is over sooner than another thread would begin it: the last run, which had
  // the same extents, was, and none takes another time.
  bool IsShort(const SymbolBindings& symbols, RowRange range) const;
  // What a run of so many iterations takes if it takes for each what the last one took (of a step
  // that is not split: as long as that); nothing before the first run.
  std::optional<int64_t> Predict(int64_t iterations) const;
  void Took(const SymbolBindings& symbols, RowRange range, int64_t run_ns);
  // How often the last run of the plan came by: in loops once a trip.
  void RanTimes(int64_t times) { times_.store(times, std::memory_order_relaxed); }
  int64_t times() const { return times_.load(std::memory_order_relaxed); }

 private:
  const bool varies_;
  mutable std::mutex mutex_;
  SymbolBindings symbols_;
  int64_t iterations_ = 0;
  int64_t run_ns_ = -1;  // no run yet
  std::atomic<int64_t> times_{1};
};

struct Program {
  uint64_t id = 0;
  v1::Plan plan;
  std::map<std::string, Tensor> blobs;
  // Filled by PrepareProgram.
  std::shared_ptr<const Graph> graph;
  std::vector<std::unique_ptr<Executable>> steps;          // null for those that call no function
  std::vector<std::unique_ptr<WorkspacePool>> workspaces;  // by step
  std::vector<std::unique_ptr<StepPace>> paces;            // by step
  std::vector<std::unique_ptr<ChunkingMemo>> chunkings;    // by step
  std::vector<TensorType> types;                           // by value
  // Only the core reads and writes these.
  bool ready = false;
  LastRunShape last_shape;
};

// Parses the plan's functions and compiles one executable a step. Called on a compute thread.
absl::Status PrepareProgram(Program* program);

struct StepStats {
  int64_t kernel_launches = 0;
  int64_t arena_bytes = 0;  // of the threads that took part, together
  int64_t iterations = 0;
  int64_t chunks = 0;
  int64_t run_ns = 0;
  int64_t rows_run = 0;
  int64_t rows_moved = 0;
  std::shared_ptr<PrintedLines> lines;  // null: none
  // If the run is to be explained.
  std::shared_ptr<OpCounts> ops;
  Chunking chunking;
};

// One step of one run, ready to execute.
struct StepTask {
  uint64_t run_id = 0;
  int step = 0;
  std::shared_ptr<Program> program;
  SymbolBindings symbols;
  RowRange range;  // of iterations; only for sharded steps
  std::vector<Tensor> operands;
  std::vector<bool> given;  // by operand: nobody else holds it, and it may be overwritten
  std::shared_ptr<std::atomic<bool>> cancelled;
  int64_t memory_budget = 0;  // bytes of arenas; 0: any
  bool profile = false;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // as in RunOptions
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_PROGRAM_H_
