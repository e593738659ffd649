#include "worker/executor/arena_demand.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "worker/executor/control.h"
#include "worker/executor/rows_step.h"

namespace weir {
namespace {

class Demand {
 public:
  absl::Status Add(const RegionPlan& plan, const SymbolBindings& symbols,
                   std::vector<Layout> inputs) {
    if (std::find(entered_.begin(), entered_.end(), &plan) != entered_.end()) {
      return absl::OkStatus();
    }
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Activation> activation,
                          Activation::Create(plan, symbols, std::move(inputs)));
    const size_t depth = entered_.size();
    if (by_depth_.size() <= depth) by_depth_.resize(depth + 1);
    by_depth_[depth] = std::max(by_depth_[depth], activation->arena_bytes());
    entered_.push_back(&plan);
    const absl::Status status = AddInner(*activation);
    entered_.pop_back();
    return status;
  }

  int64_t bytes() const { return std::accumulate(by_depth_.begin(), by_depth_.end(), int64_t{0}); }

 private:
  // What runs in an arena of its own, one depth further.
  absl::Status AddInner(const Activation& activation) {
    const std::vector<RegionPlan::Step>& steps = activation.plan().steps();
    for (size_t s = 0; s < steps.size(); ++s) {
      const Activation::StepState& state = activation.step(static_cast<int>(s));
      for (const std::unique_ptr<Activation>& region : state.regions) {
        WEIR_RETURN_IF_ERROR(AddInner(*region));
      }
      if (state.rows != nullptr) {
        for (FunctionEntry& entry : LargestEntries(*state.rows)) {
          WEIR_RETURN_IF_ERROR(Add(*entry.plan, entry.symbols, std::move(entry.inputs)));
        }
      }
      if (steps[s].callee == nullptr) continue;
      WEIR_ASSIGN_OR_RETURN(FunctionEntry entry, EntryOfCall(*steps[s].callee, state));
      WEIR_RETURN_IF_ERROR(Add(*entry.plan, entry.symbols, std::move(entry.inputs)));
    }
    return absl::OkStatus();
  }

  std::vector<const RegionPlan*> entered_;
  std::vector<int64_t> by_depth_;
};

}  // namespace

absl::StatusOr<int64_t> ArenaDemand(const RegionPlan& plan, const SymbolBindings& symbols,
                                    std::vector<Layout> inputs) {
  Demand demand;
  WEIR_RETURN_IF_ERROR(demand.Add(plan, symbols, std::move(inputs)));
  return demand.bytes();
}

}  // namespace weir
