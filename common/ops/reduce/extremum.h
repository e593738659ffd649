// Family constructor for argmax and argmin. Only op files include this; stateless.
#ifndef WEIR_COMMON_OPS_REDUCE_EXTREMUM_H_
#define WEIR_COMMON_OPS_REDUCE_EXTREMUM_H_

#include "common/ops/op_def.h"

namespace weir {

enum class Extremum { kMax, kMin };

absl::StatusOr<std::vector<TensorType>> InferExtremum(const InferContext& context);
absl::StatusOr<std::vector<Tensor>> EvaluateExtremum(EvalContext& context, Extremum which);
absl::Status StackExtremum(PforRewrite& rewrite);
std::vector<Sample> ExtremumSamples();

// Attributes axis, and dtype of the result: i32 or i64. The first of equal elements wins; -0 equals
// +0; the first NaN wins over everything, as in NumPy.
template <Extremum which>
OpDef IndexOfExtremum(std::string_view name, std::string_view summary) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.attrs = {{"axis", Attr::Kind::kInt}, {"dtype", Attr::Kind::kDType}};
  op.infer = &InferExtremum;
  op.reference = [](EvalContext& context) { return EvaluateExtremum(context, which); };
  op.pfor = &StackExtremum;
  op.samples = &ExtremumSamples;
  return op;
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_REDUCE_EXTREMUM_H_
