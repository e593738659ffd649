#include "common/ops/control/branch.h"

#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"

namespace weir::control {

absl::StatusOr<std::vector<TensorType>> InferBranches(const InferContext& context) {
  const std::vector<TensorType> types = context.ResultTypes(0);
  for (int i = 0; i < static_cast<int>(context.node().regions.size()); ++i) {
    if (!context.region(i).args.empty()) {
      return InvalidArgument("branch ", i, " must take no arguments, found ",
                             context.region(i).args.size(), "; branches use values around them");
    }
    WEIR_RETURN_IF_ERROR(CheckEqualTypes(StrCat("branch ", i, " result"), context.ResultTypes(i),
                                         "branch 0 result", types));
  }
  return types;
}

void MarkBranches(VarianceContext& context) {
  const Node& node = context.node();
  for (RegionId branch : node.regions) {
    context.AnalyzeRegion(branch);
    const std::vector<ValueId>& results = context.graph().region(branch).results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (context.input_varies(0) || context.varies(results[i])) {
        context.MarkVarying(node.outputs[i]);
      }
    }
  }
}

namespace {

// i32[m]: for a predicate 0 where it holds, as the first branch is the one for true.
ValueId BranchIndices(PforRewrite& rewrite) {
  Builder& build = rewrite.build();
  ValueId index = rewrite.operand(0);
  if (rewrite.input_type(0).dtype == DType::kBool) {
    index = build.Apply("convert", {build.Apply("not", {index})}, {{"dtype", DType::kI32}});
  }
  return index;
}

// Each branch runs for the iterations that take it.
absl::Status ConvertByRows(PforRewrite& rewrite) {
  const Node& node = rewrite.node();
  Builder& build = rewrite.build();
  const std::string local = rewrite.FreshSymbol("k");
  const Dim part = Dim::Symbol(local);
  std::vector<ValueId> operands = {BranchIndices(rewrite)};
  Int64s counts;
  std::vector<RegionId> branches;
  for (RegionId source : node.regions) {
    branches.push_back(build.NewRegion());
    Builder into = build.In(branches.back());
    PartCaptures captures(rewrite, part);
    for (ValueId capture : VaryingCaptures(rewrite, source)) captures.AddByOwner(capture);
    const std::vector<ValueId>& passed = captures.operands();
    operands.insert(operands.end(), passed.begin(), passed.end());
    counts.push_back(static_cast<int64_t>(passed.size()));
    WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results,
                          rewrite.ConvertPart(source, into, part, captures.AddArgs(into)));
    const std::vector<ValueId> sources = rewrite.source().region(source).results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!rewrite.varies(sources[i])) results[i] = RepeatRows(into, results[i], part);
    }
    into.Yield(std::move(results));
  }
  rewrite.Return(build.ApplyAll("case_rows", std::move(operands),
                                {{"local", local}, {"operands", std::move(counts)}},
                                std::move(branches)));
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertBranches(PforRewrite& rewrite) {
  if (rewrite.input_varies(0)) return ConvertByRows(rewrite);
  const Node& node = rewrite.node();
  std::vector<bool> stack;
  for (size_t i = 0; i < node.outputs.size(); ++i) stack.push_back(rewrite.output_varies(i));
  std::vector<RegionId> branches;
  for (size_t i = 0; i < node.regions.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const RegionId branch, Convert(rewrite, static_cast<int>(i), stack));
    branches.push_back(branch);
  }
  rewrite.Return(rewrite.build().ApplyAll(node.op, {rewrite.operand(0)}, node.attrs, branches));
  return absl::OkStatus();
}

}  // namespace weir::control
