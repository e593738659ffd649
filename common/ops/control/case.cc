#include "common/base/status.h"
#include "common/ops/control/branch.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& index = context.input(0);
  if (index.rank() != 0 || (index.dtype != DType::kI32 && index.dtype != DType::kI64)) {
    return InvalidArgument("the branch index must be i32[] or i64[], found ", index.ToString());
  }
  return control::InferBranches(context);
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& index = context.input(0);
  const int64_t branch =
      index.dtype() == DType::kI32 ? index.At<int32_t>({}) : index.At<int64_t>({});
  const int64_t last = static_cast<int64_t>(context.node().regions.size()) - 1;
  return context.RunRegion(static_cast<int>(branch < 0 || branch > last ? last : branch), {});
}

std::vector<Sample> Samples() {
  Sample three;
  three.program = R"(
    func @main(%index: i32[], %x: f32[2], %y: f32[2]) -> (f32[2] "out") {
      %out = case(%index) () {
        yield %x
      } () {
        %xy = add(%x, %y) : f32[2]
        yield %xy
      } () {
        yield %y
      } : f32[2]
      return %out
    })";
  std::vector<Sample> samples;
  for (int32_t index : {0, 1, 2, -1, 7}) {
    three.label = StrCat("index ", index);
    three.operands = {Fixed(Tensor::Scalar<int32_t>(index)), Rand(DType::kF32, {2}),
                      Rand(DType::kF32, {2})};
    samples.push_back(three);
  }
  return samples;
}

}  // namespace

OpDef CaseOp() {
  OpDef op;
  op.name = "case";
  op.summary = "runs the region of this index, the last one if out of range (StableHLO case)";
  op.inputs = {1, 1};
  op.outputs = {0, kAny};
  op.regions = {1, kAny};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = control::ConvertBranches;
  op.variance = control::MarkBranches;
  op.samples = Samples;
  return op;
}

}  // namespace weir
