#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckAxes("axes", context.attr("axes").AsInts(), context.input(0).rank()));
  return std::vector<TensorType>{context.input(0)};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return std::vector<Tensor>{context.input(0).Reverse(ToInts(context.attr("axes").AsInts()))};
}

absl::Status StackReverse(PforRewrite& rewrite) {
  return ReturnStacked(rewrite, {{"axes", Shifted(rewrite.attr("axes").AsInts())}});
}

std::vector<Sample> Samples() {
  auto sample = [](std::string label, DType dtype, Extents extents, Int64s axes) {
    return Sample{.label = std::move(label),
                  .operands = {Rand(dtype, std::move(extents))},
                  .attrs = {{"axes", std::move(axes)}}};
  };
  return {
      sample("last", DType::kF32, {3, 5}, {1}),     sample("first", DType::kI64, {3, 5}, {0}),
      sample("both", DType::kBool, {3, 5}, {1, 0}), sample("middle", DType::kC64, {2, 3, 4}, {1}),
      sample("none", DType::kF64, {3, 5}, {}),      sample("extent 1", DType::kU8, {1, 4}, {0}),
      sample("empty", DType::kF16, {0, 2}, {0, 1}), sample("scalar", DType::kBF16, {}, {}),
  };
}

}  // namespace

OpDef ReverseOp() {
  OpDef op;
  op.name = "reverse";
  op.summary = "the order of elements along some axes reversed (StableHLO reverse)";
  op.attrs = {{"axes", Attr::Kind::kInts}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackReverse;
  op.is_view = true;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
