#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

Dim SlicedExtent(const Dim& start, const Dim& limit, int64_t stride) {
  if (stride == 1) return limit - start;
  return FloorDiv(limit - start + (stride - 1), stride);
}

absl::Status CheckAxisOfSlice(const InferContext& context, int axis, const Dim& start,
                              const Dim& limit, int64_t stride) {
  const Dim& extent = context.input(0).shape[axis];
  if (stride < 1) return InvalidArgument("stride ", stride, " of axis ", axis, " must be positive");
  if (MustExceed(0, start) || MustExceed(start, limit) || MustExceed(limit, extent)) {
    return InvalidArgument("axis ", axis, " of ", OperandText(context, 0), " has no range [",
                           start.ToString(), ", ", limit.ToString(), ")");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const std::vector<Dim>& start = context.attr("start").AsDims();
  const std::vector<Dim>& limit = context.attr("limit").AsDims();
  const Int64s& stride = context.attr("stride").AsInts();
  WEIR_RETURN_IF_ERROR(CheckLength("start", start.size(), operand.rank()));
  WEIR_RETURN_IF_ERROR(CheckLength("limit", limit.size(), operand.rank()));
  WEIR_RETURN_IF_ERROR(CheckLength("stride", stride.size(), operand.rank()));
  Shape shape;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    WEIR_RETURN_IF_ERROR(CheckAxisOfSlice(context, axis, start[axis], limit[axis], stride[axis]));
    shape.dims().push_back(SlicedExtent(start[axis], limit[axis], stride[axis]));
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& operand = context.input(0);
  WEIR_ASSIGN_OR_RETURN(const Extents start, context.Evaluate("start"));
  WEIR_ASSIGN_OR_RETURN(const Extents limit, context.Evaluate("limit"));
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (0 <= start[axis] && start[axis] <= limit[axis] && limit[axis] <= operand.extent(axis)) {
      continue;
    }
    return InvalidArgument("axis ", axis, " of operand 0 ", ExtentsToString(operand.extents()),
                           " has no range [", start[axis], ", ", limit[axis], ")");
  }
  return std::vector<Tensor>{operand.Slice(start, limit, context.attr("stride").AsInts())};
}

absl::Status StackSlice(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       {{"start", Prepend<Dim>(0, rewrite.attr("start").AsDims())},
                        {"limit", Prepend(rewrite.extent(), rewrite.attr("limit").AsDims())},
                        {"stride", Prepend<int64_t>(1, rewrite.attr("stride").AsInts())}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, std::vector<Dim> start,
                   std::vector<Dim> limit, Int64s stride) {
    return Sample{.label = std::move(label),
                  .operands = {Rand(dtype, std::move(extents))},
                  .attrs = {{"start", std::move(start)},
                            {"limit", std::move(limit)},
                            {"stride", std::move(stride)}}};
  };
  return {
      sample("block", DType::kF32, {4, 6}, {1, 2}, {3, 5}, {1, 1}),
      sample("strided", DType::kF64, {7, 10}, {1, 0}, {7, 10}, {2, 3}),
      sample("stride beyond", DType::kI32, {5}, {2}, {5}, {9}),
      sample("everything", DType::kBool, {2, 3}, {0, 0}, {2, 3}, {1, 1}),
      sample("nothing", DType::kC64, {4, 3}, {2, 0}, {2, 3}, {1, 2}),
      sample("nothing at the end", DType::kI16, {4}, {4}, {4}, {3}),
      sample("of empty", DType::kF16, {0, 3}, {0, 1}, {0, 2}, {1, 1}),
      sample("scalar", DType::kBF16, {}, {}, {}, {}),
  };
}

}  // namespace

OpDef SliceOp() {
  OpDef op;
  op.name = "slice";
  op.summary = "elements start, start + stride, ... below limit of each axis (StableHLO slice)";
  op.attrs = {
      {"start", Attr::Kind::kDims}, {"limit", Attr::Kind::kDims}, {"stride", Attr::Kind::kInts}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackSlice;
  op.is_view = true;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
