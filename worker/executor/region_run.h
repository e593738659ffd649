// Runs an activation: kernel after kernel, on the caller's thread. Stateless.
#ifndef WEIR_WORKER_EXECUTOR_REGION_RUN_H_
#define WEIR_WORKER_EXECUTOR_REGION_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/executor/activation.h"
#include "worker/executor/executable.h"
#include "worker/executor/workspace.h"

namespace weir {

// What one run of an executable carries through all its regions.
struct RunContext {
  RunStats* stats = nullptr;
  Workspace::Impl* workspace = nullptr;
  RunOptions options;
  int depth = 0;  // of calls
  uint32_t looks = 0;

  // Asked between two kernels. Returns: an error if the run is to end.
  absl::Status MayGoOn() {
    if (options.cancelled != nullptr && options.cancelled->load(std::memory_order_relaxed)) {
      return absl::CancelledError("the run was cancelled");
    }
    // Reading the clock takes as long as a small kernel.
    constexpr uint32_t kLooksPerReading = 32;
    const bool reads = options.deadline.has_value() && looks++ % kLooksPerReading == 0;
    if (reads && std::chrono::steady_clock::now() > *options.deadline) {
      return absl::DeadlineExceededError("the run takes too long");
    }
    return absl::OkStatus();
  }
};

// Errors name node, op and source location.
absl::Status RunActivation(Activation* activation, const Activation::Memory& memory,
                           RunContext* context);

// Runs what a lease holds at depth context->depth, and gives it back.
absl::Status RunLeased(const Workspace::Impl::Lease& lease, absl::Span<const cpu::View> inputs,
                       absl::Span<std::byte* const> results, RunContext* context);

// Runs a function with memory of its own, from the context's workspace. Inputs may have any
// strides; results are row-major.
absl::Status RunFunction(const RegionPlan& plan, const SymbolBindings& symbols,
                         absl::Span<const cpu::View> inputs, absl::Span<std::byte* const> results,
                         RunContext* context);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_REGION_RUN_H_
