#include "common/base/status.h"
#include "common/ops/movement/starts.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  Shape sizes(context.attr("sizes").AsDims());
  WEIR_RETURN_IF_ERROR(CheckStarts(context, 1));
  WEIR_RETURN_IF_ERROR(CheckLength("sizes", sizes.dims().size(), operand.rank()));
  WEIR_RETURN_IF_ERROR(CheckFits(context, sizes, "a slice of"));
  return std::vector<TensorType>{{operand.dtype, std::move(sizes)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents sizes, context.Evaluate("sizes"));
  WEIR_ASSIGN_OR_RETURN(const int64_t elements, CheckedNumElements(sizes, context.output_dtype(0)));
  if (elements == 0) return std::vector<Tensor>{Tensor(context.output_dtype(0), sizes)};
  WEIR_ASSIGN_OR_RETURN(const Extents start, ClampedStarts(context, 1, sizes));
  Extents limit = start;
  for (size_t axis = 0; axis < limit.size(); ++axis) limit[axis] += sizes[axis];
  return std::vector<Tensor>{context.input(0).Slice(start, limit, Extents(limit.size(), 1))};
}

// Row i of an invariant operand, with i the loop variable. (Starts of axes that are taken whole do
// not matter: they are clamped to 0.)
bool SlicesOwnRow(const PforRewrite& rewrite) {
  const std::vector<Dim>& sizes = rewrite.attr("sizes").AsDims();
  if (rewrite.input_varies(0) || !rewrite.is_iteration_index(1) || sizes[0] != Dim(1)) return false;
  const Shape& shape = rewrite.input_type(0).shape;
  for (int axis = 1; axis < shape.rank(); ++axis) {
    if (shape[axis].is_unknown() || sizes[axis] != shape[axis]) return false;
  }
  return true;
}

ValueId GatherSlices(PforRewrite& rewrite) {
  const std::vector<Dim>& sizes = rewrite.attr("sizes").AsDims();
  std::vector<ValueId> starts;
  for (int i = 1; i < rewrite.num_inputs(); ++i) starts.push_back(rewrite.stacked(i));
  const Int64s axes = FirstAxes(static_cast<int>(sizes.size()));
  const bool batched = rewrite.input_varies(0);
  const Int64s batching = batched ? Int64s{0} : Int64s{};
  return rewrite.build().Apply("gather", {rewrite.operand(0), IndexRows(rewrite, starts)},
                               {{"offset_dims", Shifted(axes)},
                                {"collapsed_slice_dims", Int64s{}},
                                {"operand_batching_dims", batching},
                                {"start_indices_batching_dims", batching},
                                {"start_index_map", batched ? Shifted(axes) : axes},
                                {"index_vector_dim", 1},
                                {"slice_sizes", batched ? Prepend<Dim>(1, sizes) : sizes}});
}

absl::Status StackDynamicSlice(PforRewrite& rewrite) {
  Builder& b = rewrite.build();
  const std::vector<Dim> stacked_sizes = Prepend(rewrite.extent(), rewrite.attr("sizes").AsDims());
  if (!StartsVary(rewrite, 1)) {
    rewrite.Return(b.Apply("dynamic_slice",
                           Prepend(rewrite.operand(0), InvariantStarts(rewrite, 1)),
                           {{"sizes", stacked_sizes}}));
    return absl::OkStatus();
  }
  if (SlicesOwnRow(rewrite)) {
    const ValueId rows = rewrite.IterationRows(0);
    if (rows.valid()) {
      rewrite.Return(b.Apply("reshape", {rows}, {{"shape", stacked_sizes}}));
      return absl::OkStatus();
    }
  }
  rewrite.Return(GatherSlices(rewrite));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, std::vector<Dim> sizes) {
    Sample sample{.label = std::move(label),
                  .operands = {Rand(dtype, extents)},
                  .attrs = {{"sizes", std::move(sizes)}}};
    // Starts beyond either end too.
    for (int64_t extent : extents) {
      sample.operands.push_back(Rand(DType::kI64, {}, -3, static_cast<double>(extent + 3)));
    }
    return sample;
  };
  std::vector<Sample> samples = {
      sample("block", DType::kF32, {5, 7}, {2, 3}),
      sample("row", DType::kF64, {5, 7}, {1, 7}),
      sample("element", DType::kI32, {5, 7}, {1, 1}),
      sample("everything", DType::kBool, {2, 3}, {2, 3}),
      sample("nothing", DType::kC64, {4, 3}, {0, 3}),
      sample("of empty", DType::kF16, {0, 3}, {0, 2}),
      sample("vector", DType::kBF16, {9}, {4}),
      sample("scalar", DType::kU8, {}, {}),
  };
  Sample far = sample("far outside", DType::kI64, {3, 4}, {2, 2});
  far.operands[1] = Exactly(Tensor::Scalar<int64_t>(INT64_MIN));
  far.operands[2] = Exactly(Tensor::Scalar<int64_t>(INT64_MAX));
  samples.push_back(std::move(far));
  return samples;
}

}  // namespace

OpDef DynamicSliceOp() {
  OpDef op;
  op.name = "dynamic_slice";
  op.summary =
      "a block of the given sizes at i64 starts, which are clamped so that it lies inside "
      "(StableHLO dynamic_slice)";
  op.inputs = {1, kAny};
  op.attrs = {{"sizes", Attr::Kind::kDims}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackDynamicSlice;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
