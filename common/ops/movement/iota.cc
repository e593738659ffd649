#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  Shape shape(context.attr("shape").AsDims());
  const DType dtype = context.attr("dtype").AsDType();
  WEIR_RETURN_IF_ERROR(CheckDims("shape", shape.dims()));
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", context.attr("axis").AsInt(), shape.rank()));
  if (dtype == DType::kBool) return InvalidArgument("counts numbers, not bool");
  return std::vector<TensorType>{{dtype, std::move(shape)}};
}

template <class T>
T FromIndex(int64_t i) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(i));
  } else {
    return static_cast<T>(i);
  }
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.Evaluate("shape"));
  WEIR_RETURN_IF_ERROR(CheckedNumElements(extents, context.output_dtype(0)).status());
  const int axis = static_cast<int>(context.attr("axis").AsInt());
  Tensor line(context.output_dtype(0), {extents[axis]});
  VisitDType(line.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < line.num_elements(); ++i) line.mutable_data<T>()[i] = FromIndex<T>(i);
  });
  return std::vector<Tensor>{line.BroadcastInDim(extents, {axis})};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, DType dtype, std::vector<Dim> shape, int axis) {
    samples.push_back(
        {.label = std::move(label), .attrs = {{"shape", shape}, {"dtype", dtype}, {"axis", axis}}});
  };
  for (DType dtype : kAllDTypes) {
    if (dtype != DType::kBool) add("", dtype, {2, 5}, 1);
  }
  add("first axis", DType::kF32, {4, 3}, 0);
  add("empty", DType::kI32, {3, 0}, 0);
  add("empty axis", DType::kI32, {0, 3}, 0);
  add("wraps", DType::kU8, {300}, 0);
  add("rounds", DType::kBF16, {600}, 0);
  return samples;
}

}  // namespace

OpDef IotaOp() {
  OpDef op;
  op.name = "iota";
  op.summary = "0, 1, 2, ... along one axis, the same along the others (StableHLO iota)";
  op.inputs = {0, 0};
  op.attrs = {
      {"shape", Attr::Kind::kDims}, {"dtype", Attr::Kind::kDType}, {"axis", Attr::Kind::kInt}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "has no operands, so it never varies";
  op.samples = &Samples;
  return op;
}

}  // namespace weir
