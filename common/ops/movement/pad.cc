#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/movement/block.h"

namespace weir {
namespace {

// More is a mistake, and less than this cannot overflow.
constexpr int64_t kMaxPadding = int64_t{1} << 40;

// Padding of one axis. Negative low and high cut off.
struct AxisPadding {
  int64_t low;
  int64_t high;
  int64_t interior;  // between neighbours
};

AxisPadding PaddingOf(const Node& node, int axis) {
  return {node.attr("low").AsInts()[axis], node.attr("high").AsInts()[axis],
          node.attr("interior").AsInts()[axis]};
}

Dim PaddedExtent(const Dim& extent, const AxisPadding& padding) {
  Dim padded = extent + padding.low + padding.high;
  if (padding.interior != 0) padded = padded + Max(extent - 1, 0) * padding.interior;
  return padded;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  if (context.input(1) != TensorType{operand.dtype, Shape()}) {
    return InvalidArgument("the padding value, ", OperandText(context, 1), ", must be ",
                           DTypeName(operand.dtype), "[]");
  }
  for (std::string_view name : {"low", "high", "interior"}) {
    WEIR_RETURN_IF_ERROR(CheckLength(name, context.attr(name).AsInts().size(), operand.rank()));
  }
  Shape shape;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    const AxisPadding padding = PaddingOf(context.node(), axis);
    if (padding.interior < 0) {
      return InvalidArgument("interior padding of axis ", axis, " is negative: ", padding.interior);
    }
    for (int64_t amount : {padding.low, padding.high, padding.interior}) {
      if (amount >= -kMaxPadding && amount <= kMaxPadding) continue;
      return InvalidArgument("padding ", amount, " of axis ", axis, " is out of range");
    }
    Dim extent = PaddedExtent(operand.shape[axis], padding);
    if (extent.is_number() && extent.number() < 0) {
      return InvalidArgument("padding ", padding.low, " and ", padding.high, " of axis ", axis,
                             " of ", OperandText(context, 0), " leaves ", extent.number(),
                             " elements");
    }
    shape.dims().push_back(std::move(extent));
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& operand = context.input(0);
  const int rank = operand.rank();
  Extents extents(rank), first(rank), last(rank), start(rank), step(rank);
  for (int axis = 0; axis < rank; ++axis) {
    const AxisPadding padding = PaddingOf(context.node(), axis);
    WEIR_ASSIGN_OR_RETURN(extents[axis], PaddedExtent(operand.extent(axis), padding).Evaluate({}));
    step[axis] = padding.interior + 1;
    // The operand elements that land inside.
    first[axis] = std::clamp<int64_t>(CeilDiv(-padding.low, step[axis]), 0, operand.extent(axis));
    last[axis] = std::clamp<int64_t>(CeilDiv(extents[axis] - padding.low, step[axis]), first[axis],
                                     operand.extent(axis));
    start[axis] = padding.low + first[axis] * step[axis];
  }
  WEIR_RETURN_IF_ERROR(CheckedNumElements(extents, operand.dtype()).status());
  Tensor out = context.input(1).BroadcastInDim(extents, {}).Clone();
  WriteBlock(operand.Slice(first, last, Extents(rank, 1)), start, step, &out);
  return std::vector<Tensor>{std::move(out)};
}

Attrs StackedPadding(const PforRewrite& rewrite) {
  Attrs attrs;
  for (std::string_view name : {"low", "high", "interior"}) {
    attrs.emplace(name, Prepend<int64_t>(0, rewrite.attr(name).AsInts()));
  }
  return attrs;
}

// A varying padding value: pad with zeros, and choose by a padded mask, which is invariant.
ValueId PadWithVarying(PforRewrite& rewrite) {
  Builder& b = rewrite.build();
  const TensorType operand = rewrite.input_type(0);
  const ValueId padded =
      b.Apply("pad", {rewrite.stacked(0), b.Constant(Tensor::Zeros(operand.dtype, {}))},
              StackedPadding(rewrite));
  const ValueId inside = b.Apply("broadcast_in_dim", {b.Scalar<bool>(true)},
                                 {{"shape", operand.shape.dims()}, {"axes", Int64s{}}});
  const ValueId mask = b.Apply("pad", {inside, b.Scalar<bool>(false)}, rewrite.node().attrs);
  const ValueId values = b.Apply("broadcast_in_dim", {rewrite.operand(1)},
                                 {{"shape", b.type(padded).shape.dims()}, {"axes", Int64s{0}}});
  return b.Apply("select", {rewrite.Stack(mask), padded, values});
}

absl::Status StackPad(PforRewrite& rewrite) {
  if (rewrite.input_varies(1)) {
    rewrite.Return(PadWithVarying(rewrite));
  } else {
    rewrite.Return(rewrite.build().Apply("pad", {rewrite.operand(0), rewrite.operand(1)},
                                         StackedPadding(rewrite)));
  }
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, Int64s low, Int64s high,
                   Int64s interior) {
    return Sample{
        .label = std::move(label),
        .operands = {Rand(dtype, std::move(extents)), Rand(dtype, {})},
        .attrs = {
            {"low", std::move(low)}, {"high", std::move(high)}, {"interior", std::move(interior)}}};
  };
  return {
      sample("edges", DType::kF32, {2, 3}, {1, 0}, {0, 2}, {0, 0}),
      sample("interior", DType::kF64, {3, 2}, {0, 1}, {1, 0}, {2, 1}),
      sample("negative", DType::kI32, {5, 6}, {-1, -2}, {-2, 1}, {0, 0}),
      sample("negative interior", DType::kI8, {4, 5}, {-2, 3}, {-3, -4}, {1, 2}),
      sample("cut inside the gaps", DType::kU16, {3}, {-1}, {-1}, {3}),
      sample("cut everything", DType::kBool, {3}, {-3}, {2}, {0}),
      sample("cut all and more", DType::kI64, {3}, {-5}, {7}, {0}),
      sample("none", DType::kC64, {2, 2}, {0, 0}, {0, 0}, {0, 0}),
      sample("of empty", DType::kF16, {0, 2}, {2, 0}, {1, 0}, {3, 1}),
      sample("to empty", DType::kBF16, {2}, {-1}, {-1}, {0}),
      sample("one element", DType::kF32, {1}, {0}, {0}, {5}),
      sample("scalar", DType::kC128, {}, {}, {}, {}),
  };
}

}  // namespace

OpDef PadOp() {
  OpDef op;
  op.name = "pad";
  op.summary =
      "operand 1 put before, between and after the elements of operand 0; negative low and high "
      "cut off (StableHLO pad)";
  op.inputs = {2, 2};
  op.attrs = {
      {"low", Attr::Kind::kInts}, {"high", Attr::Kind::kInts}, {"interior", Attr::Kind::kInts}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackPad;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
