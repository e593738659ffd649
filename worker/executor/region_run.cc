#include "worker/executor/region_run.h"

#include <cstring>

#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/tensor/copy.h"
#include "worker/executor/control.h"
#include "worker/executor/op_counts.h"

namespace weir {
namespace {

void Copy(const Layout& from, const std::byte* source, const Layout& to, std::byte* target) {
  CopyStrided(from.dtype, from.extents, source, from.strides, target, to.strides);
}

#ifdef NDEBUG
void Poison(const Activation&, int, const Activation::Memory&) {}
#else
// Memory that nobody may read any more becomes a recognizable pattern (a NaN in every float type).
void Poison(const Activation& activation, int step, const Activation::Memory& memory) {
  for (const auto& [offset, bytes] : activation.freed_after(step)) {
    std::memset(memory.arena + offset, 0xff, static_cast<size_t>(bytes));
  }
}
#endif

absl::Status RunStepOf(Activation* activation, int index, const Activation::Memory& memory,
                       RunContext* context) {
  const RegionPlan::Step& step = activation->plan().steps()[index];
  Activation::StepState& state = activation->step(index);
  if (step.kind == RegionPlan::Step::Kind::kView && !state.copies) return absl::OkStatus();
  for (size_t i = 0; i < step.operands.size(); ++i) {
    state.operands[i].data = activation->AddressOf(step.operands[i], memory);
  }
  for (size_t i = 0; i < step.results.size(); ++i) {
    state.results[i].data = activation->AddressOf(step.results[i], memory);
  }
  if (step.kind == RegionPlan::Step::Kind::kControl) {
    return RunControl(step, *activation, &state, memory, context);
  }
  ++context->stats->kernel_launches;
  if (step.kind == RegionPlan::Step::Kind::kView) {
    const cpu::View& to = state.results[0];
    const Layout& from = activation->layout(step.operands[0]);
    CopyStrided(from.dtype, from.extents, state.operands[0].data, from.strides, to.data,
                RowMajorStrides(from.extents));
    return absl::OkStatus();
  }
  return step.kernel->Run(
      {.operands = state.operands,
       .results = state.results,
       .scratch = {memory.arena + state.scratch_offset, static_cast<size_t>(state.scratch_bytes)},
       .symbols = &activation->symbols(),
       .lines = context->options.lines});
}

// Steps inside of a control step have added their times, which are not its own.
absl::Status RunTimedStepOf(Activation* activation, int index, const Activation::Memory& memory,
                            RunContext* context) {
  OpCounts* ops = context->stats->ops;
  if (ops == nullptr) return RunStepOf(activation, index, memory, context);
  const int64_t inside = ops->ns();
  const absl::Time start = RealClock()->Now();
  const absl::Status status = RunStepOf(activation, index, memory, context);
  const int64_t took = absl::ToInt64Nanoseconds(RealClock()->Now() - start);
  ops->AddTime(*activation->plan().steps()[index].op, took - (ops->ns() - inside));
  return status;
}

}  // namespace

absl::Status RunActivation(Activation* activation, const Activation::Memory& memory,
                           RunContext* context) {
  const RegionPlan& plan = activation->plan();
  for (int s = 0; s < static_cast<int>(plan.steps().size()); ++s) {
    WEIR_RETURN_IF_ERROR(context->MayGoOn());
    absl::Status status = RunTimedStepOf(activation, s, memory, context);
    if (!status.ok()) return Annotate(status, plan.graph().Describe(plan.steps()[s].node));
    Poison(*activation, s, memory);
  }
  for (const auto& [result, value] : activation->copied_results()) {
    Copy(activation->layout(value), activation->AddressOf(value, memory),
         activation->result_layout(result), memory.results[result]);
  }
  if (OpCounts* ops = context->stats->ops; ops != nullptr) {
    WEIR_ASSIGN_OR_RETURN(const ActivationCounts* counts, activation->Counts());
    ops->Add(*counts);
  }
  return absl::OkStatus();
}

absl::Status RunLeased(const Workspace::Impl::Lease& lease, absl::Span<const cpu::View> inputs,
                       absl::Span<std::byte* const> results, RunContext* context) {
  lease.externals->clear();
  for (const cpu::View& input : inputs) {
    lease.externals->push_back(static_cast<std::byte*>(input.data));
  }
  context->stats->arena_bytes =
      std::max(context->stats->arena_bytes, context->workspace->arena_bytes());
  ++context->depth;
  const absl::Status status =
      RunActivation(lease.activation, {lease.arena, *lease.externals, results}, context);
  --context->depth;
  context->workspace->Release(lease);
  return status;
}

absl::Status RunFunction(const RegionPlan& plan, const SymbolBindings& symbols,
                         absl::Span<const cpu::View> inputs, absl::Span<std::byte* const> results,
                         RunContext* context) {
  constexpr int kMaxDepth = 1000;
  if (context->depth >= kMaxDepth) {
    return absl::ResourceExhaustedError(
        StrCat("calls are nested deeper than ", kMaxDepth, "; does the recursion end?"));
  }
  WEIR_ASSIGN_OR_RETURN(const Workspace::Impl::Lease lease,
                        context->workspace->Acquire(plan, symbols, inputs, context->depth));
  return RunLeased(lease, inputs, results, context);
}

}  // namespace weir
