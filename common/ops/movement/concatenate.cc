#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/movement/block.h"

namespace weir {
namespace {

absl::Status CheckOperand(const InferContext& context, int i, int64_t axis) {
  const TensorType& first = context.input(0);
  const TensorType& type = context.input(i);
  bool fits = type.dtype == first.dtype && type.rank() == first.rank();
  for (int k = 0; fits && k < first.rank(); ++k) {
    fits = k == axis || type.shape[k] == first.shape[k] || type.shape[k].is_unknown() ||
           first.shape[k].is_unknown();
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument(OperandText(context, i), " must agree with ", OperandText(context, 0),
                         " in everything but axis ", axis);
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  TensorType result = context.input(0);
  const int64_t axis = context.attr("axis").AsInt();
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", axis, result.rank()));
  for (int i = 1; i < context.num_inputs(); ++i) {
    WEIR_RETURN_IF_ERROR(CheckOperand(context, i, axis));
    for (int k = 0; k < result.rank(); ++k) {
      Dim& dim = result.shape[k];
      if (k == axis) {
        dim = dim + context.input(i).shape[k];
      } else if (dim.is_unknown()) {
        dim = context.input(i).shape[k];
      }
    }
  }
  return std::vector<TensorType>{std::move(result)};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const int64_t axis = context.attr("axis").AsInt();
  Extents extents = context.input(0).extents();
  for (size_t i = 1; i < context.inputs().size(); ++i) {
    Extents expected = context.input(0).extents();
    expected[axis] = context.input(i).extent(axis);
    if (context.input(i).extents() != expected) {
      return InvalidArgument("operands ", ExtentsToString(context.input(0).extents()), " and ",
                             ExtentsToString(context.input(i).extents()),
                             " differ in other axes than ", axis);
    }
    extents[axis] += context.input(i).extent(axis);
  }
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(context.output_dtype(0), extents));
  Extents start(extents.size(), 0);
  const Extents step(extents.size(), 1);
  for (const Tensor& input : context.inputs()) {
    WriteBlock(input, start, step, &out);
    start[axis] += input.extent(axis);
  }
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackConcatenate(PforRewrite& rewrite) {
  return ReturnStacked(rewrite, {{"axis", rewrite.attr("axis").AsInt() + 1}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, std::vector<Extents> operands, int axis) {
    Sample sample{.label = std::move(label), .attrs = {{"axis", axis}}};
    for (Extents& extents : operands) sample.operands.push_back(Rand(dtype, std::move(extents)));
    return sample;
  };
  return {
      sample("rows", DType::kF32, {{2, 3}, {4, 3}}, 0),
      sample("columns", DType::kF64, {{2, 3}, {2, 1}, {2, 5}}, 1),
      sample("middle", DType::kI16, {{2, 1, 3}, {2, 2, 3}}, 1),
      sample("one operand", DType::kBool, {{2, 3}}, 1),
      sample("empty part", DType::kC64, {{0, 3}, {2, 3}, {0, 3}}, 0),
      sample("all empty", DType::kF16, {{0}, {0}}, 0),
      sample("other axis empty", DType::kBF16, {{2, 0}, {3, 0}}, 0),
      sample("many", DType::kI64, {{1}, {2}, {3}, {4}, {5}}, 0),
  };
}

}  // namespace

OpDef ConcatenateOp() {
  OpDef op;
  op.name = "concatenate";
  op.summary = "operands one after the other along an axis (StableHLO concatenate)";
  op.inputs = {1, kAny};
  op.attrs = {{"axis", Attr::Kind::kInt}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackConcatenate;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
