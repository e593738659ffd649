#include "common/ops/elementwise/elementwise.h"

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/ops/registry.h"

namespace weir::elementwise {

absl::StatusOr<std::vector<TensorType>> InferElementwise(const InferContext& context,
                                                         ResultDTypeFn result_dtype) {
  std::vector<DType> dtypes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const TensorType& type = context.input(i);
    if (type.shape != context.input(0).shape) {
      return InvalidArgument("operands must have equal shapes, found ", context.input(0).ToString(),
                             " and ", type.ToString());
    }
    dtypes.push_back(type.dtype);
  }
  const std::optional<DType> result = result_dtype(context.node(), dtypes);
  if (!result.has_value()) {
    return InvalidArgument(
        "not defined for operand types (",
        absl::StrJoin(dtypes, ", ",
                      [](std::string* out, DType t) { StrAppend(out, DTypeName(t)); }),
        "); insert convert ops");
  }
  return std::vector<TensorType>{{*result, context.input(0).shape}};
}

absl::StatusOr<std::vector<Tensor>> EvaluateElementwise(EvalContext& context) {
  std::vector<Tensor> dense;
  std::vector<DType> dtypes;
  std::vector<const void*> operands;
  for (const Tensor& input : context.inputs()) {
    dense.push_back(input.Contiguous());
    dtypes.push_back(input.dtype());
    operands.push_back(dense.back().raw_data());
  }
  const OpDef& op = *FindOp(context.node().op);
  Tensor out(context.output_dtype(0), context.input(0).extents());
  const TileFn tile = op.elementwise->find(context.node(), dtypes, out.dtype(), Isa::kBaseline);
  tile(operands.data(), out.raw_mutable_data(), out.num_elements());
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackElementwise(PforRewrite& rewrite) {
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  rewrite.Return(rewrite.build().Apply(rewrite.node().op, operands, rewrite.node().attrs));
  return absl::OkStatus();
}

std::vector<Sample> DefaultSamples(absl::Span<const std::vector<DType>> dtypes, double lo,
                                   double hi) {
  std::vector<Sample> samples;
  const Extents shapes[] = {{2, 3}, {}, {0, 3}, {67}};
  for (const std::vector<DType>& operand_dtypes : dtypes) {
    for (const Extents& extents : shapes) {
      if (operand_dtypes != dtypes[0] && extents != shapes[0]) continue;
      Sample sample;
      for (DType dtype : operand_dtypes) sample.operands.push_back(Rand(dtype, extents, lo, hi));
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

}  // namespace weir::elementwise
