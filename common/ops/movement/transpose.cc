#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const Int64s& permutation = context.attr("permutation").AsInts();
  WEIR_RETURN_IF_ERROR(CheckLength("permutation", permutation.size(), operand.rank()));
  WEIR_RETURN_IF_ERROR(CheckAxes("permutation", permutation, operand.rank()));
  Shape shape;
  for (int64_t axis : permutation) shape.dims().push_back(operand.shape[static_cast<int>(axis)]);
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return std::vector<Tensor>{
      context.input(0).Transpose(ToInts(context.attr("permutation").AsInts()))};
}

absl::Status StackTranspose(PforRewrite& rewrite) {
  const Int64s permutation = Prepend<int64_t>(0, Shifted(rewrite.attr("permutation").AsInts()));
  return ReturnStacked(rewrite, {{"permutation", permutation}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, Int64s permutation) {
    return Sample{.label = std::move(label),
                  .operands = {Rand(dtype, std::move(extents))},
                  .attrs = {{"permutation", std::move(permutation)}}};
  };
  return {
      sample("matrix", DType::kF32, {3, 5}, {1, 0}),
      sample("rotate", DType::kF64, {2, 3, 4}, {2, 0, 1}),
      sample("swap last", DType::kI8, {2, 3, 4}, {0, 2, 1}),
      sample("reverse order", DType::kC128, {2, 3, 4, 5}, {3, 2, 1, 0}),
      sample("tiles", DType::kF32, {67, 33}, {1, 0}),
      sample("identity", DType::kBool, {2, 3}, {0, 1}),
      sample("one axis", DType::kU64, {4}, {0}),
      sample("scalar", DType::kF16, {}, {}),
      sample("empty", DType::kBF16, {0, 3, 2}, {1, 2, 0}),
  };
}

}  // namespace

OpDef TransposeOp() {
  OpDef op;
  op.name = "transpose";
  op.summary = "result axis i is operand axis permutation[i] (StableHLO transpose)";
  op.attrs = {{"permutation", Attr::Kind::kInts}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackTranspose;
  op.is_view = true;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
