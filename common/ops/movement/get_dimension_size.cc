#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", context.attr("axis").AsInt(), context.input(0).rank()));
  return std::vector<TensorType>{{DType::kI64, Shape()}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const int axis = static_cast<int>(context.attr("axis").AsInt());
  return std::vector<Tensor>{Tensor::Scalar<int64_t>(context.input(0).extent(axis))};
}

// All iterations have one shape, so the size is invariant even where the operand varies.
void NeverVaries(VarianceContext&) {}

absl::Status SizeOfStacked(PforRewrite& rewrite) {
  const int64_t axis = rewrite.attr("axis").AsInt() + (rewrite.input_varies(0) ? 1 : 0);
  rewrite.Return(
      rewrite.build().Apply("get_dimension_size", {rewrite.operand(0)}, {{"axis", axis}}));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  return {
      {.operands = {Rand(DType::kF32, {4, 6})}, .attrs = {{"axis", 0}}},
      {.operands = {Rand(DType::kBool, {4, 6})}, .attrs = {{"axis", 1}}},
      {.label = "empty", .operands = {Rand(DType::kI8, {3, 0})}, .attrs = {{"axis", 1}}},
      {.label = "one", .operands = {Rand(DType::kC64, {1})}, .attrs = {{"axis", 0}}},
  };
}

}  // namespace

OpDef GetDimensionSizeOp() {
  OpDef op;
  op.name = "get_dimension_size";
  op.summary = "the extent of one axis, as i64[] (StableHLO get_dimension_size)";
  op.attrs = {{"axis", Attr::Kind::kInt}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &SizeOfStacked;
  op.variance = &NeverVaries;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
