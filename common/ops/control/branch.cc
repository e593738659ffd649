#include "common/ops/control/branch.h"

#include "common/base/status.h"
#include "common/ops/control/region.h"

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

absl::Status ConvertBranches(PforRewrite& rewrite) {
  if (rewrite.input_varies(0)) {
    return absl::UnimplementedError("the choice of the branch varies over the iterations");
  }
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
