#include "common/base/status.h"
#include "common/ops/op_def.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const std::vector<Dim>& size = context.attr("size").AsDims();
  if (size.size() != 1) {
    return InvalidArgument("attribute 'size' must hold one dimension, found ", size.size());
  }
  return std::vector<TensorType>{{DType::kI64, Shape()}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const int64_t size, context.Evaluate(context.attr("size").AsDims()[0]));
  return std::vector<Tensor>{Tensor::Scalar<int64_t>(size)};
}

std::vector<Sample> Samples() { return {{.attrs = {{"size", std::vector<Dim>{7}}}}}; }

}  // namespace

OpDef DimensionSizeOp() {
  OpDef op;
  op.name = "dimension_size";
  op.summary = "the value of a dimension expression, as i64[]";
  op.inputs = {0, 0};
  op.attrs = {{"size", Attr::Kind::kDims}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "has no operands, so it never varies";
  op.samples = &Samples;
  return op;
}

}  // namespace weir
