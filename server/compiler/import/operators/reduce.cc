// Reductions, sorting and cumulative operators.
#include <numeric>

#include "common/base/status.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {
namespace {

struct ReduceArguments {
  Int64s axes;
  ReducedAxes then = ReducedAxes::kKeep;
  bool nothing = false;  // no axes, and the operator says that this means none
};

absl::StatusOr<ReduceArguments> Arguments(OnnxNode& node, int axes_operand_since) {
  ReduceArguments out;
  WEIR_ASSIGN_OR_RETURN(const std::optional<Int64s> axes, node.AxesArgument(1, axes_operand_since));
  if (axes.has_value() && !axes->empty()) {
    WEIR_ASSIGN_OR_RETURN(out.axes, node.Axes(*axes, node.rank(0)));
  } else if (node.Int("noop_with_empty_axes", 0) != 0) {
    out.nothing = true;
  } else {
    out.axes.resize(node.rank(0));
    std::iota(out.axes.begin(), out.axes.end(), 0);
  }
  if (node.Int("keepdims", 1) == 0) out.then = ReducedAxes::kDrop;
  return out;
}

// Only ReduceSum takes its axes as an operand in these opsets.
constexpr int kAxesOperandNever = 18;
constexpr int kAxesOperandForSum = 13;

using Before = ValueId (*)(Builder& b, ValueId x);

absl::Status Reduction(OnnxNode& node, const char* op, Before before, Before after,
                       int axes_operand_since = kAxesOperandNever) {
  WEIR_ASSIGN_OR_RETURN(const ReduceArguments arguments, Arguments(node, axes_operand_since));
  ValueId value = node.input(0);
  if (before != nullptr) value = before(node.b(), value);
  if (!arguments.nothing) value = Reduce(node.b(), op, value, arguments.axes, arguments.then);
  if (after != nullptr) value = after(node.b(), value);
  node.Return(value);
  return absl::OkStatus();
}

ValueId Square(Builder& b, ValueId x) { return b.Apply("square", {x}); }
ValueId Abs(Builder& b, ValueId x) { return b.Apply("abs", {x}); }
ValueId Sqrt(Builder& b, ValueId x) { return b.Apply("sqrt", {x}); }
ValueId Log(Builder& b, ValueId x) { return b.Apply("log", {x}); }

absl::Status ArgExtremum(OnnxNode& node, const char* op) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  const bool last = node.Int("select_last_index", 0) != 0;
  ValueId x = node.input(0);
  if (last) x = b.Apply("reverse", {x}, {{"axes", Int64s{axis}}});
  ValueId index = b.Apply(op, {x}, {{"axis", axis}, {"dtype", DType::kI64}});
  if (last) {
    const ValueId end = DimValue(b, node.type(0).shape[axis] - 1);
    index = Binary(b, "subtract", end, index);
  }
  if (node.Int("keepdims", 1) != 0) index = ExpandDims(b, index, {axis});
  node.Return(index);
  return absl::OkStatus();
}

// Below opset 13 the operand is a matrix whose columns begin at `axis`.
absl::Status SoftmaxLike(OnnxNode& node, ValueId (*apply)(Builder&, ValueId, int)) {
  Builder& b = node.b();
  const Shape shape = node.type(0).shape;
  const bool as_matrix = node.opset() < 13;
  WEIR_ASSIGN_OR_RETURN(const int axis,
                        node.Axis(node.Int("axis", as_matrix ? 1 : -1), shape.rank()));
  if (!as_matrix || axis == shape.rank() - 1) {
    node.Return(apply(b, node.input(0), axis));
    return absl::OkStatus();
  }
  Dim columns = 1;
  std::vector<Dim> flat(shape.dims().begin(), shape.dims().begin() + axis);
  for (int i = axis; i < shape.rank(); ++i) columns = columns * shape[i];
  flat.push_back(columns);
  const ValueId matrix = Reshape(b, node.input(0), std::move(flat));
  node.Return(Reshape(b, apply(b, matrix, axis), shape.dims()));
  return absl::OkStatus();
}

}  // namespace

absl::Status TranslateReduceSum(OnnxNode& node) {
  return Reduction(node, "reduce_sum", nullptr, nullptr, kAxesOperandForSum);
}
absl::Status TranslateReduceMax(OnnxNode& node) {
  return Reduction(node, "reduce_max", nullptr, nullptr);
}
absl::Status TranslateReduceMin(OnnxNode& node) {
  return Reduction(node, "reduce_min", nullptr, nullptr);
}
absl::Status TranslateReduceProd(OnnxNode& node) {
  return Reduction(node, "reduce_prod", nullptr, nullptr);
}
absl::Status TranslateReduceL1(OnnxNode& node) {
  return Reduction(node, "reduce_sum", &Abs, nullptr);
}
absl::Status TranslateReduceL2(OnnxNode& node) {
  return Reduction(node, "reduce_sum", &Square, &Sqrt);
}
absl::Status TranslateReduceSumSquare(OnnxNode& node) {
  return Reduction(node, "reduce_sum", &Square, nullptr);
}
absl::Status TranslateReduceLogSum(OnnxNode& node) {
  return Reduction(node, "reduce_sum", nullptr, &Log);
}

absl::Status TranslateReduceMean(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const ReduceArguments arguments, Arguments(node, kAxesOperandNever));
  node.Return(arguments.nothing ? node.input(0)
                                : Mean(node.b(), node.input(0), arguments.axes, arguments.then));
  return absl::OkStatus();
}

// log(sum(exp(x))) around the maximum, so that nothing overflows.
absl::Status TranslateReduceLogSumExp(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const ReduceArguments arguments, Arguments(node, kAxesOperandNever));
  const ValueId x = node.input(0);
  const ValueId top = Reduce(b, "reduce_max", x, arguments.axes, ReducedAxes::kKeep);
  const ValueId finite = Where(b, b.Apply("is_finite", {top}), top, FullLike(b, top, 0));
  const ValueId sum = Reduce(b, "reduce_sum", b.Apply("exp", {Binary(b, "subtract", x, finite)}),
                             arguments.axes, ReducedAxes::kKeep);
  ValueId value = Binary(b, "add", b.Apply("log", {sum}), finite);
  if (arguments.then == ReducedAxes::kDrop) value = Squeeze(b, value, arguments.axes);
  node.Return(value);
  return absl::OkStatus();
}

absl::Status TranslateArgMax(OnnxNode& node) { return ArgExtremum(node, "argmax"); }
absl::Status TranslateArgMin(OnnxNode& node) { return ArgExtremum(node, "argmin"); }
absl::Status TranslateSoftmax(OnnxNode& node) { return SoftmaxLike(node, &Softmax); }
absl::Status TranslateLogSoftmax(OnnxNode& node) { return SoftmaxLike(node, &LogSoftmax); }

absl::Status TranslateCumSum(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const double axis_number, node.Number(1));
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(static_cast<int64_t>(axis_number), node.rank(0)));
  node.Return(node.b().Apply("cumsum", {node.input(0)},
                             {{"axis", axis},
                              {"reverse", node.Int("reverse", 0) != 0},
                              {"exclusive", node.Int("exclusive", 0) != 0}}));
  return absl::OkStatus();
}

absl::Status TranslateTopK(OnnxNode& node) {
  Builder& b = node.b();
  const int rank = node.rank(0);
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", -1), rank));
  int64_t k = node.Int("k", 0);
  if (node.opset() >= 10) {
    WEIR_ASSIGN_OR_RETURN(const double number, node.Number(1));
    k = static_cast<int64_t>(number);
  }
  Int64s to_last(rank);
  std::iota(to_last.begin(), to_last.end(), 0);
  std::swap(to_last[axis], to_last[rank - 1]);
  ValueId x = Transpose(b, node.input(0), to_last);
  const bool largest = node.Int("largest", 1) != 0;
  // The smallest are the first of a rising order; equal ones keep their order either way.
  const TensorType type = b.type(x);
  std::vector<ValueId> sorted;
  if (largest) {
    sorted = b.ApplyAll("top_k", {x}, {{"k", k}});
  } else {
    const ValueId index = Iota(b, DType::kI64, type.shape.dims(), rank - 1);
    sorted = b.ApplyAll("sort", {x, index},
                        {{"axis", rank - 1}, {"descending", false}, {"is_stable", true}});
    for (ValueId& value : sorted) value = Slice(b, value, rank - 1, Dim(0), Dim(k));
  }
  for (ValueId value : sorted) node.Return(Transpose(b, value, to_last));
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
