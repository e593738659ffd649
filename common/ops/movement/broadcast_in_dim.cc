#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

// Only a 1 that the type states expands; a symbol that happens to be 1 does not.
bool Expands(const Dim& dim) { return dim == Dim(1); }

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  Shape shape(context.attr("shape").AsDims());
  const Int64s& axes = context.attr("axes").AsInts();
  WEIR_RETURN_IF_ERROR(CheckDims("shape", shape.dims()));
  WEIR_RETURN_IF_ERROR(CheckLength("axes", axes.size(), operand.rank()));
  WEIR_RETURN_IF_ERROR(CheckAxes("axes", axes, shape.rank()));
  for (int i = 0; i < operand.rank(); ++i) {
    const Dim& from = operand.shape[i];
    const Dim& to = shape[static_cast<int>(axes[i])];
    if (from == to || Expands(from) || from.is_unknown() || to.is_unknown()) continue;
    return InvalidArgument("axis ", i, " of ", OperandText(context, 0), " has extent ",
                           from.ToString(), ", result axis ", axes[i], " of ", shape.ToString(),
                           " has ", to.ToString(), "; only the number 1 expands");
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& operand = context.input(0);
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.Evaluate("shape"));
  WEIR_RETURN_IF_ERROR(CheckedNumElements(extents, operand.dtype()).status());
  const std::vector<int> axes = ToInts(context.attr("axes").AsInts());
  const Shape& shape = context.graph().type(context.node().inputs[0]).shape;
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand.extent(i) == extents[axes[i]] || Expands(shape[i])) continue;
    return InvalidArgument("axis ", i, " of operand 0 ", ExtentsToString(operand.extents()),
                           " does not fit axis ", axes[i], " of ", ExtentsToString(extents));
  }
  return std::vector<Tensor>{operand.BroadcastInDim(extents, axes)};
}

absl::Status StackBroadcast(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       {{"shape", Prepend(rewrite.extent(), rewrite.attr("shape").AsDims())},
                        {"axes", Prepend<int64_t>(0, Shifted(rewrite.attr("axes").AsInts()))}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents from, std::vector<Dim> to, Int64s axes) {
    return Sample{.label = std::move(label),
                  .operands = {Rand(dtype, std::move(from))},
                  .attrs = {{"shape", std::move(to)}, {"axes", std::move(axes)}}};
  };
  return {
      sample("scalar", DType::kF32, {}, {2, 3}, {}),
      sample("rows", DType::kF64, {3}, {2, 3}, {1}),
      sample("columns", DType::kI32, {2}, {2, 3}, {0}),
      sample("expand 1", DType::kBool, {1, 3}, {4, 3}, {0, 1}),
      sample("expand and insert", DType::kC64, {2, 1}, {2, 5, 3}, {0, 1}),
      sample("permuted", DType::kI8, {2, 3}, {3, 4, 2}, {2, 0}),
      sample("as it is", DType::kF16, {2, 3}, {2, 3}, {0, 1}),
      sample("to empty", DType::kU16, {1}, {0, 3}, {0}),
      sample("from empty", DType::kBF16, {0}, {2, 0}, {1}),
      sample("scalar to scalar", DType::kF32, {}, {}, {}),
  };
}

}  // namespace

OpDef BroadcastInDimOp() {
  OpDef op;
  op.name = "broadcast_in_dim";
  op.summary =
      "operand axis i becomes result axis axes[i], an extent of the number 1 and the other result "
      "axes repeat (StableHLO broadcast_in_dim)";
  op.attrs = {{"shape", Attr::Kind::kDims}, {"axes", Attr::Kind::kInts}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackBroadcast;
  op.is_view = true;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
