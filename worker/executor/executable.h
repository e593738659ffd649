// A function of a program, made ready for this machine's CPU: kernels, an order of low peak memory,
// and a plan of one arena. Immutable after Create; any number of threads may Run it, each with a
// workspace of its own.
//
//   auto exe = *Executable::Create(program, "step0_shard", {});
//   Workspace workspace;
//   std::vector<Tensor> outputs(2);                  // empty ones are allocated
//   exe->Run({{"n", 100}}, inputs, absl::MakeSpan(outputs), &workspace, &stats);
#ifndef WEIR_WORKER_EXECUTOR_EXECUTABLE_H_
#define WEIR_WORKER_EXECUTOR_EXECUTABLE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "common/tensor/tensor.h"

namespace weir {

class OpCounts;
class PrintedLines;

struct RunStats {
  int64_t kernel_launches = 0;
  int64_t arena_bytes = 0;  // high-water mark
  int64_t rows_run = 0;     // by regions that run for some rows, each time that they run
  int64_t rows_moved = 0;   // to the places of rows that were done
  OpCounts* ops = nullptr;  // null: nothing is counted by op
};

// Memory that one thread uses again and again: the arena, and placements cached by extents.
// Thread-compatible; one run at a time.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  // Arenas may take so many bytes together; a run that needs more fails with RESOURCE_EXHAUSTED.
  void LimitArenas(int64_t bytes);
  // Gives the arenas back; the next run takes new ones. Placements are kept.
  void ReleaseArenas();

  struct Impl;
  Impl* impl() { return impl_.get(); }

 private:
  std::unique_ptr<Impl> impl_;
};

struct RunOptions {
  // Set from another thread to stop a run between two kernels with CANCELLED.
  const std::atomic<bool>* cancelled = nullptr;
  // A run that is at work beyond it ends between two kernels with DEADLINE_EXCEEDED; somewhat later
  // where kernels are short.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  // Where `print` writes; null: nowhere.
  PrintedLines* lines = nullptr;
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Returns: an error that names the node for which no kernel can be made.
  static absl::StatusOr<std::unique_ptr<Executable>> Create(std::shared_ptr<const Graph> program,
                                                            std::string_view function);

  // Runs once. `symbols` binds every symbol of the function's types. Inputs may have any strides.
  // An output that is empty (no buffer) is allocated; one with memory is written in place (dense
  // rows, such as a part of a larger tensor). Errors name node, op, shapes and source location. A
  // warm call (same extents as before in this workspace) allocates nothing but outputs.
  virtual absl::Status Run(const SymbolBindings& symbols, absl::Span<const Tensor> inputs,
                           absl::Span<Tensor> outputs, Workspace* workspace, RunStats* stats,
                           const RunOptions& options = {}) const = 0;

  // The input that an output is an update of, or -1: the output may be made where that input lies,
  // if nobody else reads it, and then costs the updates only.
  virtual int UpdatedInput(int output) const = 0;

  // Bytes of arena that a run with these symbols takes, inputs and outputs not counted.
  virtual absl::StatusOr<int64_t> ArenaBytes(const SymbolBindings& symbols) const = 0;
  // The same with what regions that run for some rows take in arenas of their own, at most.
  virtual absl::StatusOr<int64_t> ArenaDemand(const SymbolBindings& symbols) const = 0;
  // The schedule with kernels and arena offsets, for `explain`.
  virtual std::string Describe(const SymbolBindings& symbols) const = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_EXECUTABLE_H_
