#include "server/compiler/pipeline.h"

#include <utility>

#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ir/verify.h"
#include "common/ops/control/ordered.h"
#include "common/ops/control/phases.h"
#include "common/ops/control/state.h"
#include "common/ops/registry.h"
#include "server/compiler/factored/factored.h"
#include "server/compiler/optimize/simplify.h"
#include "server/compiler/pfor/pfor.h"
#include "server/compiler/recursion/recursion.h"

namespace weir {
namespace {

absl::Status VerifyProgram(Graph* graph, const CompileOptions&, CompileReport*) {
  if (graph->functions().empty()) return InvalidArgument("the program has no function");
  return Verify(*graph, Ops());
}

absl::Status MakeStateValues(Graph* graph, const CompileOptions& options, CompileReport* report) {
  const size_t before = report->fallbacks.size();
  WEIR_ASSIGN_OR_RETURN(const std::vector<OrderedLoop> loops, SplitOrdered(graph));
  const bool sequential = options.loops == CompileOptions::Loops::kSequential;
  for (const OrderedLoop& loop : loops) {
    if (sequential) break;  // as all loops
    report->fallbacks.push_back(
        {"assign_variable", loop.node, loop.location,
         StrCat("variable '", loop.variable, "' is assigned in the order of iterations")});
  }
  if (options.strict) WEIR_RETURN_IF_ERROR(CheckNoFallback(*report, before));
  return ThreadState(graph);
}

absl::Status CutPhases(Graph* graph, const CompileOptions&, CompileReport*) {
  return SplitPhases(graph);
}

constexpr Pass kPasses[] = {
    {"verify", "first, so that later passes may trust types and scopes", &VerifyProgram},
    {"recursion", "before inline: a recursive function that has become a loop is inlined like any",
     &LowerRecursion},
    {"inline", "before pfor: what a model calls is converted with it, in its own context",
     &InlineCalls},
    {"state", "after inline: functions share variables; before all that moves or drops nodes",
     &MakeStateValues},
    {"fold", "before pfor: what is constant is invariant and needs no rule", &FoldConstants},
    {"cse", "after fold: equal constants make equal nodes", &EliminateCommonSubexpressions},
    {"dce", "before pfor: what nobody uses must not count as a fallback", &EliminateDeadCode},
    {"phases", "before pfor: a reduction over iterations needs all of them, so the loop ends there",
     &CutPhases},
    {"factored",
     "after phases, which put sums over iterations behind loops; before pfor, which stacks rows",
     &KeepFactored},
    {"pfor", "on a small graph in which only what matters is left", &RemovePfor},
    {"canonicalize", "after pfor: conversion leaves movements that cancel", &Canonicalize},
    {"fold-converted", "after pfor: the sizes of static ranges are known now", &FoldConstants},
    {"cse-converted", "after canonicalize: equal movements meet", &EliminateCommonSubexpressions},
    {"dce-converted", "last: partition ships what is left", &EliminateDeadCode},
};

constexpr Pass kImport = {"import", "the program as it came in", nullptr};

}  // namespace

absl::Span<const Pass> Passes() { return kPasses; }

absl::StatusOr<Compiled> Compile(Graph program, const CompileOptions& options,
                                 const StageFn& on_stage) {
  Compiled out;
  out.graph = std::move(program);
  if (on_stage) on_stage(kImport, out.graph);
  for (const Pass& pass : kPasses) {
    WEIR_RETURN_IF_ERROR(pass.run(&out.graph, options, &out.report));
    out.graph = Compact(out.graph);
#ifndef NDEBUG
    WEIR_RETURN_IF_ERROR(Annotate(Verify(out.graph, Ops()), StrCat("after pass ", pass.name)));
#endif
    if (on_stage) on_stage(pass, out.graph);
  }
  WEIR_ASSIGN_OR_RETURN(out.plan, Partition(out.graph, options));
  for (std::string& note : out.plan.notes) out.report.notes.push_back(std::move(note));
  return out;
}

}  // namespace weir
