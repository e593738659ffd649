// What `if` and `case` share: one selecting operand, and regions without arguments of which one
// runs. Only op files include this; stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_BRANCH_H_
#define WEIR_COMMON_OPS_CONTROL_BRANCH_H_

#include <vector>

#include "common/ops/op_def.h"

namespace weir::control {

// Returns: the result types that all branches share.
absl::StatusOr<std::vector<TensorType>> InferBranches(const InferContext& context);
void MarkBranches(VarianceContext& context);
// Converts each branch: keeps the op where the choice does not vary, else splits the iterations.
absl::Status ConvertBranches(PforRewrite& rewrite);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_BRANCH_H_
