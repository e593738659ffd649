#include "worker/executor/part_region.h"

#include <utility>

#include "common/base/status.h"
#include "worker/executor/region_run.h"

namespace weir {

absl::StatusOr<PartRegion> PartRegion::Create(const RegionPlan& plan, const SymbolBindings& symbols,
                                              const std::string& local, std::vector<Layout> args,
                                              int num_shared, const std::vector<Layout>& captures) {
  PartRegion region;
  region.plan_ = &plan;
  region.num_args_ = static_cast<int>(args.size());
  region.num_shared_ = num_shared;
  region.symbols_ = symbols;
  region.symbols_.insert_or_assign(local, 0);
  region.local_ = local;
  region.layouts_ = std::move(args);
  region.layouts_.insert(region.layouts_.end(), captures.begin(), captures.end());
  for (const Layout& layout : region.layouts_) {
    region.views_.push_back({nullptr, layout.dtype, {}, {}});
  }
  region.known_.resize(kKnown);
  region.results_.resize(plan.results().size());
  return region;
}

FunctionEntry PartRegion::EntryFor(int64_t rows) const {
  FunctionEntry entry{plan_, symbols_, layouts_};
  entry.symbols.insert_or_assign(local_, rows);
  for (int i = num_shared_; i < num_args_; ++i) entry.inputs[i].extents[0] = rows;
  return entry;
}

absl::StatusOr<Workspace::Impl::Lease> PartRegion::Acquire(int64_t rows, RunContext* context) {
  Workspace::Impl& workspace = *context->workspace;
  Known& known = known_[static_cast<size_t>(rows) % kKnown];
  if (known.rows == rows && workspace.IsFree(known.place)) {
    return workspace.AcquireAt(known.place, context->depth);
  }
  symbols_.insert_or_assign(local_, rows);
  for (int i = num_shared_; i < num_args_; ++i) layouts_[i].extents[0] = rows;
  for (size_t i = 0; i < layouts_.size(); ++i) {
    views_[i].extents = layouts_[i].extents;
    views_[i].strides = layouts_[i].strides;
  }
  WEIR_ASSIGN_OR_RETURN(const Workspace::Impl::Lease lease,
                        workspace.Acquire(*plan_, symbols_, views_, context->depth));
  known = {rows, workspace.PlaceOf(lease)};
  return lease;
}

absl::Status PartRegion::Run(int64_t rows, const ControlRun& step, int index) {
  const std::vector<int>& captures = step.step.captures[index];
  for (size_t c = 0; c < captures.size(); ++c) {
    views_[num_args_ + c].data = step.activation.AddressOf(captures[c], step.memory);
  }
  WEIR_ASSIGN_OR_RETURN(const Workspace::Impl::Lease lease, Acquire(rows, step.context));
  return RunLeased(lease, views_, results_, step.context);
}

}  // namespace weir
