#include <cmath>

#include "common/ops/op_def.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  return std::vector<TensorType>{context.attr("value").AsTensor().type()};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return std::vector<Tensor>{context.attr("value").AsTensor()};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (DType dtype : kAllDTypes) {
    samples.push_back({.attrs = {{"value", Rand(dtype, {2, 3}, -100, 100).Make(1)}}});
  }
  samples.push_back({.label = "scalar", .attrs = {{"value", Tensor::Scalar<float>(-0.0f)}}});
  samples.push_back({.label = "empty", .attrs = {{"value", Tensor::Of<double>({0, 3}, {})}}});
  samples.push_back(
      {.label = "not finite",
       .attrs = {{"value", Tensor::Of<float>({3}, {INFINITY, -INFINITY, std::nanf("")})}}});
  return samples;
}

}  // namespace

OpDef ConstantOp() {
  OpDef op;
  op.name = "constant";
  op.summary = "a value known when the program is built (StableHLO constant)";
  op.inputs = {0, 0};
  op.attrs = {{"value", Attr::Kind::kTensor}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "has no operands, so it never varies";
  op.samples = &Samples;
  return op;
}

}  // namespace weir
