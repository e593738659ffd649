#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/movement/block.h"
#include "common/ops/movement/starts.h"

namespace weir {
namespace {

constexpr int kFirstStart = 2;

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const TensorType& update = context.input(1);
  if (update.dtype != operand.dtype || update.rank() != operand.rank()) {
    return InvalidArgument("the update, ", OperandText(context, 1),
                           ", must have the element type and rank of ", OperandText(context, 0));
  }
  WEIR_RETURN_IF_ERROR(CheckStarts(context, kFirstStart));
  WEIR_RETURN_IF_ERROR(CheckFits(context, update.shape, "an update of"));
  return std::vector<TensorType>{operand};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& update = context.input(1);
  Tensor out = context.input(0).Clone();
  if (update.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  WEIR_ASSIGN_OR_RETURN(const Extents start, ClampedStarts(context, kFirstStart, update.extents()));
  WriteBlock(update, start, Extents(start.size(), 1), &out);
  return std::vector<Tensor>{std::move(out)};
}

ValueId SizeOfAxis(PforRewrite& rewrite, int i, int axis) {
  return rewrite.build().Apply("get_dimension_size", {rewrite.operand(i)},
                               {{"axis", axis + (rewrite.input_varies(i) ? 1 : 0)}});
}

// The start of one axis, i64[m], clamped; a scatter would drop what lies outside.
ValueId ClampedStart(PforRewrite& rewrite, int axis) {
  Builder& b = rewrite.build();
  const Dim last = rewrite.input_type(0).shape[axis] - rewrite.input_type(1).shape[axis];
  const ValueId zero = rewrite.Stack(b.Scalar<int64_t>(0));
  if (last == Dim(0)) return zero;
  const ValueId limit =
      last.is_unknown()
          ? b.Apply("subtract", {SizeOfAxis(rewrite, 0, axis), SizeOfAxis(rewrite, 1, axis)})
          : DimValue(b, last);
  const ValueId start = b.Apply("maximum", {rewrite.stacked(kFirstStart + axis), zero});
  return b.Apply("minimum", {start, rewrite.Stack(limit)});
}

ValueId ScatterUpdates(PforRewrite& rewrite) {
  const int rank = rewrite.input_type(0).rank();
  std::vector<ValueId> starts;
  for (int axis = 0; axis < rank; ++axis) starts.push_back(ClampedStart(rewrite, axis));
  const Int64s axes = Shifted(FirstAxes(rank));
  return rewrite.build().Apply("scatter",
                               {rewrite.stacked(0), IndexRows(rewrite, starts), rewrite.stacked(1)},
                               {{"update_window_dims", axes},
                                {"inserted_window_dims", Int64s{}},
                                {"input_batching_dims", Int64s{0}},
                                {"scatter_indices_batching_dims", Int64s{0}},
                                {"scatter_dims_to_operand_dims", axes},
                                {"index_vector_dim", 1},
                                {"combiner", "set"},
                                {"unique_indices", true}});
}

absl::Status StackDynamicUpdateSlice(PforRewrite& rewrite) {
  if (StartsVary(rewrite, kFirstStart)) {
    rewrite.Return(ScatterUpdates(rewrite));
    return absl::OkStatus();
  }
  std::vector<ValueId> operands = {rewrite.stacked(0), rewrite.stacked(1)};
  const std::vector<ValueId> starts = InvariantStarts(rewrite, kFirstStart);
  operands.insert(operands.end(), starts.begin(), starts.end());
  rewrite.Return(rewrite.build().Apply("dynamic_update_slice", operands));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, Extents update) {
    Sample sample{.label = std::move(label),
                  .operands = {Rand(dtype, extents), Rand(dtype, std::move(update))}};
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
  far.operands[2] = Exactly(Tensor::Scalar<int64_t>(INT64_MIN));
  far.operands[3] = Exactly(Tensor::Scalar<int64_t>(INT64_MAX));
  samples.push_back(std::move(far));
  return samples;
}

}  // namespace

OpDef DynamicUpdateSliceOp() {
  OpDef op;
  op.name = "dynamic_update_slice";
  op.summary =
      "operand 0 with operand 1 written at i64 starts, which are clamped so that it lies inside "
      "(StableHLO dynamic_update_slice)";
  op.inputs = {2, kAny};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackDynamicUpdateSlice;
  op.may_overwrite = {0};
  op.samples = &Samples;
  return op;
}

}  // namespace weir
