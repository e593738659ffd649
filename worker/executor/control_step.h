// What the files behind control.h share: how a step with regions is prepared and run. Stateless but
// for what the step's state holds; used by the thread that has the activation.
#ifndef WEIR_WORKER_EXECUTOR_CONTROL_STEP_H_
#define WEIR_WORKER_EXECUTOR_CONTROL_STEP_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "common/ir/graph.h"
#include "worker/executor/activation.h"
#include "worker/executor/arena.h"
#include "worker/executor/region_run.h"

namespace weir {

// Hands out ranges of a step's scratch, one after the other.
class ScratchPlan {
 public:
  // Returns: the offset of `bytes` bytes.
  int64_t Take(int64_t bytes) {
    return std::exchange(end_,
                         end_ + (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
  }
  int64_t end() const { return end_; }

 private:
  int64_t end_ = 0;
};

struct ControlPreparation {
  const RegionPlan::Step& step;
  const Node& node;
  const SymbolBindings& symbols;
  const std::vector<Layout>& operands;
  const std::vector<std::vector<Layout>>& captures;  // by region
  Activation::StepState* state;
};

struct ControlRun {
  const RegionPlan::Step& step;
  const Activation& activation;
  Activation::StepState* state;
  const Activation::Memory& memory;
  RunContext* context;

  std::byte* scratch() const { return memory.arena + state->scratch_offset; }
  const Node& node() const { return activation.plan().graph().node(step.node); }
  std::byte* operand(int i) const { return static_cast<std::byte*>(state->operands[i].data); }
  std::byte* result(int i) const { return static_cast<std::byte*>(state->results[i].data); }

  // Runs the activation of region `i`; the first of state->externals are set, captures are added
  // here.
  absl::Status RunRegion(int i, size_t num_args) const;
  // Writes an operand as row-major values to `target`.
  void CopyOperand(int operand, std::byte* target) const;
  bool IsDense(int operand) const;
};

inline Layout Dense(const Layout& layout) { return Layout::RowMajor(layout.dtype, layout.extents); }

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_CONTROL_STEP_H_
