#include "common/base/status.h"
#include "common/ops/control/branch.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(control::CheckScalar("the predicate", context.input(0), DType::kBool));
  return control::InferBranches(context);
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return context.RunRegion(context.input(0).At<bool>({}) ? 0 : 1, {});
}

std::vector<Sample> Samples() {
  Sample both;
  both.program = R"(
    func @main(%p: bool[], %x: f32[2], %y: f32[2]) -> (f32[2] "sum", f32[2] "one") {
      %sum, %one = if(%p) () {
        %xy = add(%x, %y) : f32[2]
        yield %xy, %x
      } () {
        %xx = add(%x, %x) : f32[2]
        yield %xx, %y
      } : f32[2], f32[2]
      return %sum, %one
    })";
  std::vector<Sample> samples;
  for (bool p : {true, false}) {
    both.label = p ? "then" : "else";
    both.operands = {Fixed(Tensor::Scalar<bool>(p)), Rand(DType::kF32, {2}),
                     Rand(DType::kF32, {2})};
    samples.push_back(both);
  }
  return samples;
}

}  // namespace

OpDef IfOp() {
  OpDef op;
  op.name = "if";
  op.summary = "runs the first region if the predicate holds, else the second (StableHLO if)";
  op.inputs = {1, 1};
  op.outputs = {0, kAny};
  op.regions = {2, 2};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = control::ConvertBranches;
  op.variance = control::MarkBranches;
  op.samples = Samples;
  return op;
}

}  // namespace weir
