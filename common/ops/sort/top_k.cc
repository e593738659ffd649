#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/sort/order.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const int64_t k = context.attr("k").AsInt();
  if (operand.rank() == 0) return InvalidArgument(OperandText(context, 0), " has no axis");
  if (IsComplex(operand.dtype)) {
    return InvalidArgument("complex numbers have no order: ", OperandText(context, 0));
  }
  Shape shape = operand.shape;
  Dim& last = shape[shape.rank() - 1];
  if (k < 0 || MustExceed(k, last)) {
    return InvalidArgument("cannot take ", k, " of the last axis of ", OperandText(context, 0));
  }
  last = k;
  return std::vector<TensorType>{{operand.dtype, shape}, {DType::kI64, shape}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor operand = context.input(0).Contiguous();
  const int64_t k = context.attr("k").AsInt();
  const int64_t n = operand.extent(operand.rank() - 1);
  Extents extents = operand.extents();
  extents.back() = k;
  Tensor values(operand.dtype(), extents);
  Tensor indices(DType::kI64, extents);
  if (k > n) {
    return InvalidArgument("cannot take ", k, " of the last axis of operand 0 ",
                           ExtentsToString(operand.extents()));
  }
  const int64_t lines = k == 0 ? 0 : values.num_elements() / k;
  VisitDType(operand.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t line = 0; line < lines; ++line) {
      const absl::Span<const T> keys(operand.data<T>() + line * n, static_cast<size_t>(n));
      const std::vector<int64_t> sorted = SortedPositions(keys, Direction::kDescending);
      for (int64_t i = 0; i < k; ++i) {
        values.mutable_data<T>()[line * k + i] = keys[sorted[i]];
        indices.mutable_data<int64_t>()[line * k + i] = sorted[i];
      }
    }
  });
  return std::vector<Tensor>{std::move(values), std::move(indices)};
}

absl::Status StackTopK(PforRewrite& rewrite) {
  return ReturnStacked(rewrite, rewrite.node().attrs);
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand operand, int k) {
    samples.push_back(
        {.label = std::move(label), .operands = {std::move(operand)}, .attrs = {{"k", k}}});
  };
  for (DType dtype : kAllDTypes) {
    if (!IsComplex(dtype)) add("", Rand(dtype, {3, 7}, -5, 5), 3);
  }
  add("all", Rand(DType::kF32, {2, 3, 5}), 5);
  add("none", Rand(DType::kF32, {2, 5}), 0);
  add("one of many", Rand(DType::kF64, {1000}), 1);
  add("ties", Rand(DType::kI8, {2, 40}, -3, 3), 25);
  add("NaN last",
      Exactly(Tensor::Of<float>({8}, {NAN, 0.0f, -INFINITY, -0.0f, 3, -NAN, INFINITY, 0.0f})), 7);
  add("no lines", Rand(DType::kF32, {0, 3}), 2);
  add("empty", Rand(DType::kF32, {3, 0}), 0);
  return samples;
}

}  // namespace

OpDef TopKOp() {
  OpDef op;
  op.name = "top_k";
  op.summary =
      "the k greatest of the last axis in descending order, then their i64 indices; the first of "
      "equals, NaN last (CHLO top_k)";
  op.outputs = {2, 2};
  op.attrs = {{"k", Attr::Kind::kInt}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackTopK;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
