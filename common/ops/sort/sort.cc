#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/sort/order.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& key = context.input(0);
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", context.attr("axis").AsInt(), key.rank()));
  if (IsComplex(key.dtype)) {
    return InvalidArgument("complex numbers have no order: ", OperandText(context, 0));
  }
  std::vector<TensorType> results;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (context.input(i).shape != key.shape) {
      return InvalidArgument(OperandText(context, i), " must have the shape of ",
                             OperandText(context, 0));
    }
    results.push_back(context.input(i));
  }
  return results;
}

// Rows of `in`, which is dense with the sorted axis last, in the order of `positions`.
Tensor Reordered(const Tensor& in, absl::Span<const int64_t> positions) {
  Tensor out(in.dtype(), in.extents());
  const int64_t n = in.extent(in.rank() - 1);
  VisitDType(in.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out.mutable_data<T>()[i] = in.data<T>()[i / n * n + positions[i]];
    }
  });
  return out;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const int axis = static_cast<int>(context.attr("axis").AsInt());
  const Direction direction =
      context.attr("descending").AsBool() ? Direction::kDescending : Direction::kAscending;
  std::vector<int> axis_last = ToInts(OtherAxes({axis}, context.input(0).rank()));
  axis_last.push_back(axis);
  std::vector<int> axis_back(axis_last.size());
  for (size_t i = 0; i < axis_last.size(); ++i) axis_back[axis_last[i]] = static_cast<int>(i);
  const Tensor keys = context.input(0).Transpose(axis_last).Contiguous();
  const int64_t n = context.input(0).extent(axis);
  std::vector<int64_t> positions;
  VisitDType(keys.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t first = 0; first < keys.num_elements(); first += n) {
      const absl::Span<const T> line(keys.data<T>() + first, static_cast<size_t>(n));
      const std::vector<int64_t> sorted = SortedPositions(line, direction);
      positions.insert(positions.end(), sorted.begin(), sorted.end());
    }
  });
  std::vector<Tensor> results;
  for (const Tensor& input : context.inputs()) {
    results.push_back(
        Reordered(input.Transpose(axis_last).Contiguous(), positions).Transpose(axis_back));
  }
  return results;
}

absl::Status StackSort(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       With(rewrite.node().attrs, "axis", rewrite.attr("axis").AsInt() + 1));
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, std::vector<SampleOperand> operands, int axis,
                 bool descending = false, bool is_stable = true) {
    samples.push_back(
        {.label = std::move(label),
         .operands = std::move(operands),
         .attrs = {{"axis", axis}, {"descending", descending}, {"is_stable", is_stable}}});
  };
  for (DType dtype : kAllDTypes) {
    if (!IsComplex(dtype)) add("", {Rand(dtype, {3, 7}, -5, 5)}, 1);
  }
  for (int axis = 0; axis < 3; ++axis) {
    add("axis", {Rand(DType::kF32, {3, 5, 4})}, axis);
    add("descending", {Rand(DType::kF64, {3, 5, 4})}, axis, true);
  }
  const SampleOperand ties = Rand(DType::kI8, {2, 40}, -3, 3);
  add("ties keep their order", {ties, Rand(DType::kI64, {2, 40}, 0, 1000)}, 1);
  add("descending ties", {ties, Rand(DType::kC64, {2, 40}), Rand(DType::kBool, {2, 40})}, 1, true);
  const SampleOperand odd =
      Exactly(Tensor::Of<float>({8}, {NAN, 0.0f, -INFINITY, -0.0f, 3, -NAN, INFINITY, 0.0f}));
  add("NaN last", {odd, Rand(DType::kI32, {8}, 0, 100)}, 0);
  add("NaN last, descending", {odd, Rand(DType::kI32, {8}, 0, 100)}, 0, true);
  add("one key", {Rand(DType::kF32, {40})}, 0, false, false);
  add("empty", {Rand(DType::kF32, {3, 0})}, 1);
  add("no lines", {Rand(DType::kF32, {0, 3}), Rand(DType::kU8, {0, 3})}, 1);
  add("extent 1", {Rand(DType::kF32, {1, 3})}, 0);
  return samples;
}

}  // namespace

OpDef SortOp() {
  OpDef op;
  op.name = "sort";
  op.summary =
      "operands reordered along an axis so that operand 0 is sorted, NaN last; always stable "
      "(StableHLO sort)";
  op.inputs = {1, kAny};
  op.outputs = {1, kAny};
  op.attrs = {{"axis", Attr::Kind::kInt},
              {"descending", Attr::Kind::kBool},
              {"is_stable", Attr::Kind::kBool}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackSort;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
