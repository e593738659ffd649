#include "common/base/status.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes("region argument", control::ArgTypes(context, 0),
                                                "loop variable", {control::IndexType()}));
  std::vector<TensorType> types = context.ResultTypes(0);
  for (TensorType& type : types) type = control::WithLeading(extent, type);
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents extent, context.Evaluate("extent"));
  if (extent[0] < 0) return InvalidArgument("pfor extent ", extent[0], " is negative");
  control::Collector collector(context, 0);
  for (int64_t i = 0; i < extent[0]; ++i) {
    absl::StatusOr<std::vector<Tensor>> results =
        context.RunRegion(0, {Tensor::Scalar<int64_t>(i)});
    if (!results.ok()) return control::InIteration(results.status(), i);
    WEIR_RETURN_IF_ERROR(control::InIteration(collector.Add(*results, 0), i));
  }
  return collector.Take();
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  context.AnalyzeRegion(node.regions[0]);
  const std::vector<ValueId>& results = context.graph().region(node.regions[0]).results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (context.varies(results[i])) context.MarkVarying(node.outputs[i]);
  }
}

// The inner loop stays; its body works on all outer iterations at once.
absl::Status Pfor(PforRewrite& rewrite) {
  const std::vector<bool> varies = control::ResultsVary(rewrite, 0);
  WEIR_ASSIGN_OR_RETURN(const RegionId body, control::Convert(rewrite, 0, varies));
  Builder& build = rewrite.build();
  std::vector<ValueId> outputs = build.ApplyAll("pfor", {}, rewrite.node().attrs, {body});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (varies[i]) outputs[i] = control::SwapLeading(build, outputs[i]);
  }
  rewrite.Return(std::move(outputs));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample rows{.label = "rows", .operands = {Rand(DType::kF32, {3, 2}), Rand(DType::kF32, {3, 2})}};
  rows.program = R"(
    func @main(%x: f32[3,2], %y: f32[3,2]) -> (f32[4,3,2] "out") {
      %out = pfor {extent = (4)} (%i: i64[]) {
        %sum = add(%x, %y) : f32[3,2]
        yield %sum
      } : f32[4,3,2]
      return %out
    })";
  Sample nested{.label = "nested", .operands = {Rand(DType::kF32, {2})}};
  nested.program = R"(
    func @main(%x: f32[2]) -> (i64[3,2] "index", f32[3,0,2] "none") {
      %index, %none = pfor {extent = (3)} (%i: i64[]) {
        %sums = pfor {extent = (2)} (%j: i64[]) {
          %sum = add(%i, %j) : i64[]
          yield %sum
        } : i64[2]
        %empty = pfor {extent = (0)} (%j: i64[]) {
          %twice = add(%x, %x) : f32[2]
          yield %twice
        } : f32[0,2]
        yield %sums, %empty
      } : i64[3,2], f32[3,0,2]
      return %index, %none
    })";
  return {rows, nested};
}

}  // namespace

OpDef PforOp() {
  OpDef op;
  op.name = "pfor";
  op.summary =
      "runs the region for every index below extent, independently, and stacks the results";
  op.inputs = {0, 0};
  op.outputs = {0, kAny};
  op.regions = {1, 1};
  op.attrs = {{"extent", Attr::Kind::kDims}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
