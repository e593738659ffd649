#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  Shape shape(context.attr("shape").AsDims());
  WEIR_RETURN_IF_ERROR(CheckDims("shape", shape.dims()));
  if (MustDiffer(operand.shape.num_elements(), shape.num_elements())) {
    return InvalidArgument(OperandText(context, 0), " has ",
                           operand.shape.num_elements().ToString(), " elements, the result ",
                           shape.ToString(), " has ", shape.num_elements().ToString());
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.Evaluate("shape"));
  WEIR_ASSIGN_OR_RETURN(const int64_t elements,
                        CheckedNumElements(extents, context.output_dtype(0)));
  if (elements != context.input(0).num_elements()) {
    return InvalidArgument("cannot reshape ", ExtentsToString(context.input(0).extents()), " to ",
                           ExtentsToString(extents), ": the numbers of elements differ");
  }
  return std::vector<Tensor>{context.input(0).Reshape(extents)};
}

absl::Status StackReshape(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       {{"shape", Prepend(rewrite.extent(), rewrite.attr("shape").AsDims())}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents from, std::vector<Dim> to) {
    return Sample{.label = std::move(label),
                  .operands = {Rand(dtype, std::move(from))},
                  .attrs = {{"shape", std::move(to)}}};
  };
  return {
      sample("split", DType::kF32, {2, 6}, {2, 3, 2}),
      sample("merge", DType::kF64, {2, 3, 4}, {6, 4}),
      sample("regroup", DType::kI16, {4, 6}, {3, 8}),
      sample("flatten", DType::kBool, {3, 5}, {15}),
      sample("drop ones", DType::kI64, {1, 3, 1}, {3}),
      sample("add ones", DType::kC64, {3}, {1, 3, 1, 1}),
      sample("to scalar", DType::kF16, {1, 1}, {}),
      sample("from scalar", DType::kU8, {}, {1}),
      sample("empty", DType::kF32, {0, 4}, {2, 0, 7}),
      sample("as it is", DType::kBF16, {2, 3}, {2, 3}),
  };
}

}  // namespace

OpDef ReshapeOp() {
  OpDef op;
  op.name = "reshape";
  op.summary = "the same elements in row-major order under another shape (StableHLO reshape)";
  op.attrs = {{"shape", Attr::Kind::kDims}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackReshape;
  op.is_view = true;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
