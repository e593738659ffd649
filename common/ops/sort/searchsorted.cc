#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/sort/order.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& sorted = context.input(0);
  const TensorType& values = context.input(1);
  const std::string& side = context.attr("side").AsString();
  if (side != "left" && side != "right") {
    return InvalidArgument("side \"", side, "\" is neither left nor right");
  }
  if (IsComplex(sorted.dtype)) {
    return InvalidArgument("complex numbers have no order: ", OperandText(context, 0));
  }
  bool fits = sorted.dtype == values.dtype && sorted.rank() == values.rank() && sorted.rank() > 0;
  for (int axis = 0; fits && axis + 1 < sorted.rank(); ++axis) {
    fits = !MustDiffer(sorted.shape[axis], values.shape[axis]);
  }
  if (!fits) {
    return InvalidArgument("operands must agree in type and in all axes but the last, found ",
                           OperandText(context, 0), " and ", OperandText(context, 1));
  }
  return std::vector<TensorType>{{DType::kI64, values.shape}};
}

// How many elements of the line come before the value, those equal to it included on the right.
template <class T>
int64_t CountBefore(absl::Span<const T> line, T value, bool right) {
  const auto ascending = [](T a, T b) { return ComesBefore(a, b, Direction::kAscending); };
  const auto place = right ? std::upper_bound(line.begin(), line.end(), value, ascending)
                           : std::lower_bound(line.begin(), line.end(), value, ascending);
  return place - line.begin();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor sorted = context.input(0).Contiguous();
  const Tensor values = context.input(1).Contiguous();
  const bool right = context.attr("side").AsString() == "right";
  for (int axis = 0; axis + 1 < sorted.rank(); ++axis) {
    if (sorted.extent(axis) == values.extent(axis)) continue;
    return InvalidArgument("operands must agree in all axes but the last, found ",
                           ExtentsToString(sorted.extents()), " and ",
                           ExtentsToString(values.extents()));
  }
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(DType::kI64, values.extents()));
  const int64_t m = sorted.extent(sorted.rank() - 1);
  const int64_t k = values.extent(values.rank() - 1);
  VisitDType(sorted.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      const absl::Span<const T> line(sorted.data<T>() + i / k * m, static_cast<size_t>(m));
      out.mutable_data<int64_t>()[i] = CountBefore<T>(line, values.data<T>()[i], right);
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

// Iterations that search in one line all search at once.
absl::Status StackSearch(PforRewrite& rewrite) {
  if (rewrite.input_varies(0) || rewrite.input_type(0).rank() != 1) {
    return ReturnStacked(rewrite, rewrite.node().attrs);
  }
  Builder& b = rewrite.build();
  const Shape stacked = b.type(rewrite.operand(1)).shape;
  const Shape flat({stacked.num_elements()});
  const ValueId values = b.Apply("reshape", {rewrite.operand(1)}, {{"shape", flat}});
  const ValueId found = b.Apply("searchsorted", {rewrite.operand(0), values}, rewrite.node().attrs);
  rewrite.Return(b.Apply("reshape", {found}, {{"shape", stacked}}));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand sorted, SampleOperand values) {
    for (const char* side : {"left", "right"}) {
      samples.push_back({.label = label, .operands = {sorted, values}, .attrs = {{"side", side}}});
    }
  };
  add("f32", Exactly(Tensor::Of<float>({5}, {-1, 0, 0, 0.5f, 1})), Rand(DType::kF32, {7}));
  add("ties", Exactly(Tensor::Of<int32_t>({6}, {-1, 0, 0, 0, 2, 2})), Rand(DType::kI32, {9}));
  add("u8", Exactly(Tensor::Of<uint8_t>({2}, {1, 200})), Rand(DType::kU8, {3}, 0, 255));
  add("bool", Exactly(Tensor::Of<bool>({3}, {false, true, true})), Rand(DType::kBool, {4}));
  add("not a number", Exactly(Tensor::Of<double>({6}, {-INFINITY, -0.0, 1, INFINITY, NAN, NAN})),
      Exactly(Tensor::Of<double>({6}, {NAN, 0.0, INFINITY, -INFINITY, 2, 1})));
  add("batches", Exactly(Tensor::Of<float>({2, 3}, {-1, 0, 1, 0, 0.5f, 1.5f})),
      Rand(DType::kF32, {2, 4}));
  add("not sorted", Rand(DType::kF16, {2, 5}), Rand(DType::kF16, {2, 3}));
  add("in nothing", Rand(DType::kBF16, {0}), Rand(DType::kBF16, {3}));
  add("for nothing", Rand(DType::kI64, {2, 3}), Rand(DType::kI64, {2, 0}));
  add("one", Rand(DType::kF32, {1}), Rand(DType::kF32, {1}));
  return samples;
}

}  // namespace

OpDef SearchsortedOp() {
  OpDef op;
  op.name = "searchsorted";
  op.summary =
      "for each value of operand 1 how many elements of the sorted lines of operand 0 come before "
      "it, with its equals if side is right, in the order of sort (numpy.searchsorted)";
  op.inputs = {2, 2};
  op.attrs = {{"side", Attr::Kind::kString}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackSearch;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
