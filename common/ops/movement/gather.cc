#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/movement/gather_dims.h"
#include "common/tensor/copy.h"

namespace weir {
namespace {

constexpr std::string_view kSliceSizes = "slice_sizes";

// A slice takes at most one element of an axis that it loses. Axes of extent 0 let anything pass:
// iterations of an empty parallel loop may gather a row, and none of them runs.
absl::Status CheckSliceSizes(const InferContext& context, const GatherDims& dims) {
  const std::vector<Dim>& sizes = context.attr(kSliceSizes).AsDims();
  const Shape& operand = context.input(0).shape;
  WEIR_RETURN_IF_ERROR(CheckLength(kSliceSizes, sizes.size(), operand.rank()));
  for (int axis = 0; axis < operand.rank(); ++axis) {
    const bool kept = !HasAxis(dims.dropped, axis) && !HasAxis(dims.operand_batching, axis);
    if (!kept && sizes[axis] != Dim(1) && sizes[axis] != Dim(0)) {
      return InvalidArgument("slice size of axis ", axis, ", which slices lose, must be 1, found ",
                             sizes[axis].ToString());
    }
    if (MustExceed(0, sizes[axis]) ||
        (operand[axis] != Dim(0) && MustExceed(sizes[axis], operand[axis]))) {
      return InvalidArgument("slice size ", sizes[axis].ToString(), " does not fit into axis ",
                             axis, " of ", OperandText(context, 0));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const GatherDims dims = GatherDims::Read(context.node(), kGatherNames);
  const TensorType& operand = context.input(0);
  const TensorType& indices = context.input(1);
  const bool scalars = dims.index_vector == indices.rank();
  const int rank = static_cast<int>(dims.window.size()) + indices.rank() - (scalars ? 0 : 1);
  WEIR_RETURN_IF_ERROR(dims.Check(context, kGatherNames, 0, 1, rank));
  WEIR_RETURN_IF_ERROR(CheckSliceSizes(context, dims));
  const std::vector<Dim>& sizes = context.attr(kSliceSizes).AsDims();
  const Int64s window_axes = dims.WindowAxes(operand.rank());
  const Int64s batch_axes = dims.BatchAxes(rank);
  const Int64s index_axes = dims.IndexAxes(indices.rank());
  Shape shape(std::vector<Dim>(rank, Dim(0)));
  for (size_t i = 0; i < window_axes.size(); ++i) {
    shape[static_cast<int>(dims.window[i])] = sizes[window_axes[i]];
  }
  for (size_t i = 0; i < batch_axes.size(); ++i) {
    shape[static_cast<int>(batch_axes[i])] = indices.shape[static_cast<int>(index_axes[i])];
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

// Which extents a gather of these operands has.
Extents ResultExtents(const GatherDims& dims, const Tensor& operand, const Tensor& indices,
                      const Extents& sizes) {
  const Int64s window_axes = dims.WindowAxes(operand.rank());
  const Int64s index_axes = dims.IndexAxes(indices.rank());
  Extents extents(window_axes.size() + index_axes.size());
  const Int64s batch_axes = dims.BatchAxes(static_cast<int>(extents.size()));
  for (size_t i = 0; i < window_axes.size(); ++i) extents[dims.window[i]] = sizes[window_axes[i]];
  for (size_t i = 0; i < batch_axes.size(); ++i) {
    extents[batch_axes[i]] = indices.extent(static_cast<int>(index_axes[i]));
  }
  return extents;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const GatherDims dims = GatherDims::Read(context.node(), kGatherNames);
  const Tensor& operand = context.input(0);
  const Tensor& indices = context.input(1);
  WEIR_ASSIGN_OR_RETURN(const Extents sizes, context.Evaluate(kSliceSizes));
  WEIR_ASSIGN_OR_RETURN(
      Tensor out, Tensor::TryCreate(operand.dtype(), ResultExtents(dims, operand, indices, sizes)));
  if (out.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (sizes[axis] <= operand.extent(axis)) continue;
    return InvalidArgument("slices of ", ExtentsToString(sizes), " do not fit into operand 0 ",
                           ExtentsToString(operand.extents()));
  }
  Extents extents, from, to;
  const Int64s window_axes = dims.WindowAxes(operand.rank());
  for (size_t i = 0; i < window_axes.size(); ++i) {
    extents.push_back(sizes[window_axes[i]]);
    from.push_back(operand.strides()[window_axes[i]]);
    to.push_back(out.strides()[dims.window[i]]);
  }
  const Int64s batch_axes = dims.BatchAxes(out.rank());
  const int element = SizeOf(operand.dtype());
  dims.ForEachSlice(indices, operand.rank(), [&](const Extents& place, const Extents& start) {
    int64_t source = 0;
    int64_t target = 0;
    for (int axis = 0; axis < operand.rank(); ++axis) {
      source += std::clamp<int64_t>(start[axis], 0, operand.extent(axis) - sizes[axis]) *
                operand.strides()[axis];
    }
    for (size_t i = 0; i < place.size(); ++i) target += place[i] * out.strides()[batch_axes[i]];
    CopyStrided(operand.dtype(), extents, operand.raw_data() + source * element, from,
                out.raw_mutable_data() + target * element, to);
  });
  return std::vector<Tensor>{std::move(out)};
}

// Whole rows of axis 0, by the loop variable.
bool GathersOwnRow(const PforRewrite& rewrite, const GatherDims& dims) {
  if (rewrite.input_varies(0) || !rewrite.is_iteration_index(1)) return false;
  const std::vector<Dim>& sizes = rewrite.attr(kSliceSizes).AsDims();
  const Shape& shape = rewrite.input_type(0).shape;
  if (dims.index_map != Int64s{0} || sizes[0] != Dim(1)) return false;
  for (int axis = 1; axis < shape.rank(); ++axis) {
    if (shape[axis].is_unknown() || sizes[axis] != shape[axis] || HasAxis(dims.dropped, axis)) {
      return false;
    }
  }
  return true;
}

absl::Status StackGather(PforRewrite& rewrite) {
  Builder& b = rewrite.build();
  const GatherDims dims = GatherDims::Read(rewrite.node(), kGatherNames);
  if (GathersOwnRow(rewrite, dims)) {
    const ValueId rows = rewrite.IterationRows(0);
    if (rows.valid()) {
      const std::vector<Dim> shape = Prepend(rewrite.extent(), rewrite.output_type(0).shape.dims());
      rewrite.Return(dims.dropped.empty() ? b.Apply("reshape", {rows}, {{"shape", shape}}) : rows);
      return absl::OkStatus();
    }
  }
  const bool operand_varies = rewrite.input_varies(0);
  const bool indices_vary = rewrite.input_varies(1);
  std::vector<Dim> sizes = rewrite.attr(kSliceSizes).AsDims();
  if (operand_varies) sizes = Prepend(indices_vary ? Dim(1) : rewrite.extent(), sizes);
  const GatherDims stacked = !indices_vary    ? dims.WithWindow()
                             : operand_varies ? dims.WithBatch()
                                              : dims.WithIndices();
  rewrite.Return(b.Apply("gather", {rewrite.operand(0), rewrite.operand(1)},
                         With(stacked.Write(kGatherNames), kSliceSizes, std::move(sizes))));
  return absl::OkStatus();
}

Sample MakeSample(std::string label, SampleOperand operand, SampleOperand indices, GatherDims dims,
                  std::vector<Dim> sizes) {
  return {.label = std::move(label),
          .operands = {std::move(operand), std::move(indices)},
          .attrs = With(dims.Write(kGatherNames), kSliceSizes, std::move(sizes))};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  const GatherDims row = {.window = {0}, .dropped = {0}, .index_map = {0}};
  samples.push_back(
      MakeSample("row", Rand(DType::kF32, {5, 3}), Rand(DType::kI64, {}, -1, 7), row, {1, 3}));
  samples.push_back(MakeSample("row kept", Rand(DType::kF64, {5, 3}), Rand(DType::kI64, {}, 0, 5),
                               {.window = {0, 1}, .index_map = {0}}, {1, 3}));
  samples.push_back(MakeSample("row of empty", Rand(DType::kF32, {5, 0}),
                               Rand(DType::kI64, {}, 0, 5), row, {1, 0}));
  samples.push_back(MakeSample("rows", Rand(DType::kF32, {5, 3}), Rand(DType::kI32, {4}, -2, 7),
                               {.window = {1}, .dropped = {0}, .index_map = {0}, .index_vector = 1},
                               {1, 3}));
  samples.push_back(
      MakeSample("columns in front", Rand(DType::kI16, {4, 6}), Rand(DType::kU8, {2, 3}, 0, 6),
                 {.window = {0}, .dropped = {1}, .index_map = {1}, .index_vector = 2}, {4, 1}));
  samples.push_back(
      MakeSample("points", Rand(DType::kI8, {4, 6}, -100, 100), Rand(DType::kI64, {3, 2}, -1, 7),
                 {.dropped = {0, 1}, .index_map = {0, 1}, .index_vector = 1}, {1, 1}));
  samples.push_back(MakeSample(
      "blocks", Rand(DType::kC64, {5, 6, 7}), Rand(DType::kI64, {2, 3, 4}, -2, 8),
      {.window = {1, 3}, .dropped = {1}, .index_map = {2, 0}, .index_vector = 0}, {2, 1, 3}));
  samples.push_back(MakeSample("batched", Rand(DType::kF16, {3, 5, 2}),
                               Rand(DType::kI32, {3, 4}, 0, 5),
                               {.window = {2},
                                .dropped = {1},
                                .operand_batching = {0},
                                .indices_batching = {0},
                                .index_map = {1},
                                .index_vector = 2},
                               {1, 1, 2}));
  samples.push_back(MakeSample("batched, axes swapped", Rand(DType::kBF16, {3, 5, 4}),
                               Rand(DType::kI64, {4, 3, 1}, 0, 5),
                               {.window = {1},
                                .operand_batching = {0, 2},
                                .indices_batching = {1, 0},
                                .index_map = {1},
                                .index_vector = 2},
                               {1, 2, 1}));
  samples.push_back(MakeSample("no indices", Rand(DType::kBool, {4}), Rand(DType::kI64, {0}, 0, 4),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, {1}));
  samples.push_back(MakeSample("empty index vectors", Rand(DType::kU32, {2, 3}),
                               Rand(DType::kI64, {4, 0}), {.window = {1, 2}, .index_vector = 1},
                               {2, 2}));
  samples.push_back(MakeSample("far outside", Rand(DType::kF32, {4}),
                               Exactly(Tensor::Of<int64_t>({3}, {INT64_MIN, 2, INT64_MAX})),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, {1}));
  samples.push_back(MakeSample("unsigned and large", Rand(DType::kF32, {4}),
                               Exactly(Tensor::Of<uint64_t>({1}, {UINT64_MAX})),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, {1}));
  return samples;
}

}  // namespace

OpDef GatherOp() {
  OpDef op;
  op.name = "gather";
  op.summary =
      "slices of operand 0 at the index vectors of operand 1, clamped so that they lie inside "
      "(StableHLO gather)";
  op.inputs = {2, 2};
  op.attrs = GatherDims::Schema(kGatherNames);
  op.attrs.push_back({kSliceSizes, Attr::Kind::kDims});
  op.attrs.push_back({"indices_are_sorted", Attr::Kind::kBool, /*required=*/false});
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackGather;
  op.by_index = ByIndex::kResult;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
