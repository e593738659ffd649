#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/combine.h"
#include "common/ops/movement/gather_dims.h"

namespace weir {
namespace {

absl::Status CheckWindow(const InferContext& context, const GatherDims& dims) {
  const TensorType& operand = context.input(0);
  const TensorType& updates = context.input(2);
  const Int64s window_axes = dims.WindowAxes(operand.rank());
  for (size_t i = 0; i < window_axes.size(); ++i) {
    const Dim& size = updates.shape[static_cast<int>(dims.window[i])];
    const Dim& extent = operand.shape[static_cast<int>(window_axes[i])];
    if (extent == Dim(0) || !MustExceed(size, extent)) continue;
    return InvalidArgument("window axis ", dims.window[i], " of ", OperandText(context, 2),
                           " does not fit into axis ", window_axes[i], " of ",
                           OperandText(context, 0));
  }
  const Int64s batch_axes = dims.BatchAxes(updates.rank());
  const Int64s index_axes = dims.IndexAxes(context.input(1).rank());
  for (size_t i = 0; i < batch_axes.size(); ++i) {
    const Dim& a = updates.shape[static_cast<int>(batch_axes[i])];
    const Dim& b = context.input(1).shape[static_cast<int>(index_axes[i])];
    if (a == b || a.is_unknown() || b.is_unknown()) continue;
    return InvalidArgument("axis ", batch_axes[i], " of ", OperandText(context, 2), " and axis ",
                           index_axes[i], " of ", OperandText(context, 1),
                           " must have equal extents");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const GatherDims dims = GatherDims::Read(context.node(), kScatterNames);
  const TensorType& operand = context.input(0);
  const TensorType& indices = context.input(1);
  const TensorType& updates = context.input(2);
  const std::string& name = context.attr("combiner").AsString();
  const std::optional<Combiner> combiner = ParseCombiner(name);
  if (!combiner.has_value()) {
    return InvalidArgument("combiner \"", name, "\" is none of set, add, mul, min, max, and, or");
  }
  if (!IsDefined(*combiner, operand.dtype) || updates.dtype != operand.dtype) {
    return InvalidArgument("combiner \"", name, "\" is not defined for ", OperandText(context, 0),
                           " and ", OperandText(context, 2));
  }
  WEIR_RETURN_IF_ERROR(dims.Check(context, kScatterNames, 0, 1, updates.rank()));
  const bool scalars = dims.index_vector == indices.rank();
  const int rank = static_cast<int>(dims.window.size()) + indices.rank() - (scalars ? 0 : 1);
  if (updates.rank() != rank) {
    return InvalidArgument("the updates, ", OperandText(context, 2), ", must have ", rank,
                           " axes: ", dims.window.size(), " of the window and the others of ",
                           OperandText(context, 1));
  }
  WEIR_RETURN_IF_ERROR(CheckWindow(context, dims));
  return std::vector<TensorType>{operand};
}

// Combines one stored element with another; all that is compiled for each type.
using CombineFn = void (*)(std::byte* stored, const std::byte* update);

template <Combiner combiner, class T>
void CombineOne(std::byte* stored, const std::byte* update) {
  T& target = *reinterpret_cast<T*>(stored);
  target = CombineStored<combiner, T>(target, *reinterpret_cast<const T*>(update));
}

CombineFn FindCombine(Combiner combiner, DType dtype) {
  return VisitCombiner(combiner, [&](auto tag) -> CombineFn {
    return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> CombineFn {
      return &CombineOne<decltype(tag)::value, T>;
    });
  });
}

// Applies the updates in row-major order of the index vectors, inside a slice in row-major order.
// Elements that would land outside are dropped.
void ApplyUpdates(const GatherDims& dims, CombineFn combine, const Tensor& indices,
                  const Tensor& updates, Tensor* out) {
  const Int64s window_axes = dims.WindowAxes(out->rank());
  const Int64s batch_axes = dims.BatchAxes(updates.rank());
  Extents window;
  for (int64_t axis : dims.window) window.push_back(updates.extent(static_cast<int>(axis)));
  if (NumElements(window) == 0) return;
  const int64_t element = SizeOf(out->dtype());
  std::byte* target = out->raw_mutable_data();
  const std::byte* source = updates.raw_data();
  dims.ForEachSlice(indices, out->rank(), [&](const Extents& place, const Extents& start) {
    int64_t base = 0;
    for (size_t i = 0; i < place.size(); ++i) base += place[i] * updates.strides()[batch_axes[i]];
    Extents offset(window.size(), 0);
    do {
      Extents index = start;
      int64_t from = base;
      for (size_t i = 0; i < window.size(); ++i) {
        index[window_axes[i]] += offset[i];
        from += offset[i] * updates.strides()[dims.window[i]];
      }
      int64_t to = 0;
      bool inside = true;
      for (int axis = 0; axis < out->rank(); ++axis) {
        inside = inside && index[axis] >= 0 && index[axis] < out->extent(axis);
        if (inside) to += index[axis] * out->strides()[axis];
      }
      if (inside) combine(target + to * element, source + from * element);
    } while (NextIndex(window, &offset));
  });
}

// What types with unknown dimensions leave open.
absl::Status CheckExtents(const GatherDims& dims, const Tensor& indices, const Tensor& updates) {
  const Int64s batch_axes = dims.BatchAxes(updates.rank());
  const Int64s index_axes = dims.IndexAxes(indices.rank());
  for (size_t i = 0; i < batch_axes.size(); ++i) {
    if (updates.extents()[batch_axes[i]] == indices.extents()[index_axes[i]]) continue;
    return InvalidArgument("updates ", ExtentsToString(updates.extents()),
                           " do not fit to the indices ", ExtentsToString(indices.extents()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const GatherDims dims = GatherDims::Read(context.node(), kScatterNames);
  WEIR_RETURN_IF_ERROR(CheckExtents(dims, context.input(1), context.input(2)));
  Tensor out = context.input(0).Clone();
  const Combiner combiner = *ParseCombiner(context.attr("combiner").AsString());
  ApplyUpdates(dims, FindCombine(combiner, out.dtype()), context.input(1), context.input(2), &out);
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackScatter(PforRewrite& rewrite) {
  const GatherDims dims = GatherDims::Read(rewrite.node(), kScatterNames);
  const bool indices_vary = rewrite.input_varies(1);
  const GatherDims stacked = indices_vary ? dims.WithBatch() : dims.WithWindow();
  Attrs attrs = rewrite.node().attrs;
  for (auto& [name, attr] : stacked.Write(kScatterNames)) attrs[name] = attr;
  if (indices_vary) attrs.erase("indices_are_sorted");
  rewrite.Return(rewrite.build().Apply(
      "scatter", {rewrite.stacked(0), rewrite.operand(1), rewrite.stacked(2)}, std::move(attrs)));
  return absl::OkStatus();
}

Sample MakeSample(std::string label, SampleOperand operand, SampleOperand indices,
                  SampleOperand updates, const GatherDims& dims, std::string combiner) {
  return {.label = std::move(label),
          .operands = {std::move(operand), std::move(indices), std::move(updates)},
          .attrs = With(dims.Write(kScatterNames), "combiner", std::move(combiner))};
}

std::vector<Sample> CombinerSamples() {
  const GatherDims rows = {.window = {1}, .dropped = {0}, .index_map = {0}, .index_vector = 1};
  std::vector<Sample> samples;
  auto add = [&](std::string combiner, DType dtype, double lo, double hi) {
    samples.push_back(MakeSample(combiner + " rows", Rand(dtype, {5, 3}, lo, hi),
                                 Rand(DType::kI64, {6}, -2, 7), Rand(dtype, {6, 3}, lo, hi), rows,
                                 combiner));
  };
  for (DType dtype : {DType::kF32, DType::kI64, DType::kBool, DType::kC64}) {
    add("set", dtype, -9, 9);
    add("add", dtype, -9, 9);
    add("mul", dtype, -9, 9);
  }
  for (DType dtype : {DType::kF32, DType::kF16, DType::kU8, DType::kBool}) {
    add("min", dtype, -9, 9);
    add("max", dtype, -9, 9);
  }
  for (DType dtype : {DType::kI32, DType::kU64, DType::kBool}) {
    add("and", dtype, -100, 100);
    add("or", dtype, -100, 100);
  }
  add("add", DType::kBF16, -2, 2);
  add("add", DType::kI8, -100, 100);
  add("mul", DType::kU16, 0, 60000);
  return samples;
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples = CombinerSamples();
  samples.push_back(MakeSample("row", Rand(DType::kF32, {5, 3}), Rand(DType::kI64, {}, -1, 6),
                               Rand(DType::kF32, {3}),
                               {.window = {0}, .dropped = {0}, .index_map = {0}}, "set"));
  samples.push_back(MakeSample("duplicates: the last wins", Rand(DType::kF64, {4}),
                               Exactly(Tensor::Of<int32_t>({5}, {1, 3, 1, 3, 1})),
                               Rand(DType::kF64, {5}),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, "set"));
  samples.push_back(MakeSample("points", Rand(DType::kF32, {4, 6}),
                               Rand(DType::kI64, {7, 2}, -1, 5), Rand(DType::kF32, {7}),
                               {.dropped = {0, 1}, .index_map = {0, 1}, .index_vector = 1}, "add"));
  samples.push_back(MakeSample(
      "blocks partly outside", Rand(DType::kI32, {5, 6, 7}, -9, 9),
      Rand(DType::kI16, {2, 3, 4}, -2, 7), Rand(DType::kI32, {3, 2, 4, 3}, -9, 9),
      {.window = {1, 3}, .dropped = {1}, .index_map = {2, 0}, .index_vector = 0}, "add"));
  samples.push_back(MakeSample("batched", Rand(DType::kF32, {3, 5, 2}),
                               Rand(DType::kI32, {3, 4}, 0, 5), Rand(DType::kF32, {3, 4, 2}),
                               {.window = {2},
                                .dropped = {1},
                                .operand_batching = {0},
                                .indices_batching = {0},
                                .index_map = {1},
                                .index_vector = 2},
                               "add"));
  samples.push_back(MakeSample("batched, axes swapped", Rand(DType::kF64, {3, 5, 4}),
                               Rand(DType::kI64, {4, 3, 1}, 0, 5), Rand(DType::kF64, {4, 2, 3}),
                               {.window = {1},
                                .operand_batching = {0, 2},
                                .indices_batching = {1, 0},
                                .index_map = {1},
                                .index_vector = 2},
                               "max"));
  samples.push_back(MakeSample("no updates", Rand(DType::kF32, {4}), Rand(DType::kI64, {0}, 0, 4),
                               Rand(DType::kF32, {0}),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, "mul"));
  samples.push_back(MakeSample("into empty", Rand(DType::kF32, {0}), Rand(DType::kI64, {3}, -1, 2),
                               Rand(DType::kF32, {3}),
                               {.dropped = {0}, .index_map = {0}, .index_vector = 1}, "add"));
  samples.push_back(MakeSample("far outside", Rand(DType::kF32, {4}),
                               Exactly(Tensor::Of<int64_t>({3}, {INT64_MIN, 2, INT64_MAX})),
                               Rand(DType::kF32, {3, 2}),
                               {.window = {1}, .index_map = {0}, .index_vector = 1}, "add"));
  return samples;
}

}  // namespace

OpDef ScatterOp() {
  OpDef op;
  op.name = "scatter";
  op.summary =
      "operand 0 with the updates (operand 2) combined into it at the index vectors of operand 1, "
      "in their order; what lies outside is dropped (StableHLO scatter)";
  op.inputs = {3, 3};
  op.attrs = GatherDims::Schema(kScatterNames);
  op.attrs.push_back({"combiner", Attr::Kind::kString});
  op.attrs.push_back({"indices_are_sorted", Attr::Kind::kBool, /*required=*/false});
  op.attrs.push_back({"unique_indices", Attr::Kind::kBool, /*required=*/false});
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackScatter;
  op.may_overwrite = {0};
  op.by_index = ByIndex::kLastOperand;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
