// Runs an activation: kernel after kernel, on the caller's thread. Stateless.
#ifndef WEIR_WORKER_EXECUTOR_REGION_RUN_H_
#define WEIR_WORKER_EXECUTOR_REGION_RUN_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/executor/activation.h"
#include "worker/executor/executable.h"

namespace weir {

// What one run of an executable carries through all its regions.
struct RunContext {
  RunStats* stats = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  Workspace::Impl* workspace = nullptr;
  PrintedLines* lines = nullptr;
  int depth = 0;  // of calls
};

// Errors name node, op and source location.
absl::Status RunActivation(Activation* activation, const Activation::Memory& memory,
                           RunContext* context);

// Runs a function with memory of its own, from the context's workspace. Inputs may have any
// strides; results are row-major.
absl::Status RunFunction(const RegionPlan& plan, const SymbolBindings& symbols,
                         absl::Span<const cpu::View> inputs, absl::Span<std::byte* const> results,
                         RunContext* context);

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_REGION_RUN_H_
