#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  std::vector<TensorType> outside = control::OperandTypes(context, 0);
  outside.push_back({DType::kI64, Shape({extent})});
  WEIR_ASSIGN_OR_RETURN(const Dim local, control::LocalExtent(context, outside));
  WEIR_ASSIGN_OR_RETURN(std::vector<TensorType> args,
                        control::PartTypes(context, 0, context.num_inputs(), extent, local));
  args.insert(args.begin(), control::IndexType());
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes("region argument", control::ArgTypes(context, 0),
                                                "part of operand", args));
  return control::WholeTypes(context.ResultTypes(0), local, extent);
}

absl::StatusOr<std::vector<Tensor>> RunRange(EvalContext& context, int64_t begin, int64_t end) {
  std::vector<Tensor> args = {Tensor::Scalar<int64_t>(begin)};
  for (const Tensor& input : context.inputs()) args.push_back(input.Rows(begin, end));
  absl::StatusOr<std::vector<Tensor>> results =
      context.RunRegion(0, std::move(args), {{context.attr("local").AsString(), end - begin}});
  if (results.ok()) return results;
  return Annotate(results.status(), StrCat("iterations ", begin, " to ", end - 1));
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.Evaluate("extent"));
  const int64_t extent = extents[0];
  if (extent < 0) return InvalidArgument("shard extent ", extent, " is negative");
  const int64_t ranges = std::max<int64_t>(1, std::min(extent, context.shard_ranges()));
  if (ranges == 1) return RunRange(context, 0, extent);
  std::vector<Tensor> out;
  for (int64_t range = 0; range < ranges; ++range) {
    // The first extent % ranges ranges have one iteration more.
    const int64_t begin = range * (extent / ranges) + std::min(range, extent % ranges);
    const int64_t end = begin + extent / ranges + (range < extent % ranges ? 1 : 0);
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, RunRange(context, begin, end));
    for (size_t i = 0; i < parts.size(); ++i) {
      Extents whole = parts[i].extents();
      whole[0] = extent;
      if (range == 0) out.emplace_back(parts[i].dtype(), whole);
      if (out[i].extents() != whole) {
        return InvalidArgument("result ", i, " is ", parts[i].type().ToString(), " for iterations ",
                               begin, " to ", end - 1,
                               ", which differs in shape from the ones before");
      }
      const int64_t row_bytes = parts[i].num_bytes() / (end - begin);
      parts[i].CopyTo(out[i].raw_mutable_data() + begin * row_bytes);
    }
  }
  return out;
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const Region& region = context.graph().region(node.regions[0]);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (context.input_varies(static_cast<int>(i))) context.MarkVarying(region.args[1 + i]);
  }
  context.AnalyzeRegion(node.regions[0]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (context.varies(region.results[i])) context.MarkVarying(node.outputs[i]);
  }
}

// Cuts along the inner axis still, which the outer iterations then follow.
absl::Status Pfor(PforRewrite& rewrite) {
  Builder& build = rewrite.build();
  const RegionId source = rewrite.node().regions[0];
  const RegionId target = build.NewRegion();
  Builder into = build.In(target);
  const std::vector<ValueId> args = rewrite.source().region(source).args;
  const std::vector<bool> args_vary = control::ArgsVary(rewrite, 0);
  rewrite.Bind(args[0], into.AddArg(control::IndexType(), "lo"));
  std::vector<ValueId> operands;
  for (size_t i = 1; i < args.size(); ++i) {
    const int operand = static_cast<int>(i) - 1;
    TensorType type = rewrite.source().type(args[i]);
    if (!args_vary[i]) {
      operands.push_back(rewrite.operand(operand));
      rewrite.Bind(args[i], into.AddArg(std::move(type)));
      continue;
    }
    operands.push_back(control::SwapLeading(build, rewrite.stacked(operand)));
    type = control::WithLeading(rewrite.extent(), type);
    std::swap(type.shape[0], type.shape[1]);
    rewrite.Bind(args[i], control::SwapLeading(into, into.AddArg(std::move(type))));
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results, rewrite.ConvertRegion(source, into));
  const std::vector<bool> varies = control::ResultsVary(rewrite, 0);
  for (size_t i = 0; i < results.size(); ++i) {
    if (varies[i]) results[i] = control::SwapLeading(into, results[i]);
  }
  into.Yield(std::move(results));
  std::vector<ValueId> outputs =
      build.ApplyAll("shard", std::move(operands), rewrite.node().attrs, {target});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (varies[i]) outputs[i] = control::SwapLeading(build, outputs[i]);
  }
  rewrite.Return(std::move(outputs));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample rows{
      .label = "rows",
      .operands = {Rand(DType::kF32, {5, 2}), Rand(DType::kF32, {5}), Rand(DType::kF32, {2})}};
  rows.program = R"(
    func @main(%x: f32[n,2], %y: f32[n], %z: f32[2]) -> (f32[n,2] "sum", f32[n] "same") {
      %sum, %same = shard(%x, %y) {extent = (n), local = "m"}
          (%lo: i64[], %rows: f32[m,2], %scalars: f32[m]) {
        %zs = broadcast_in_dim(%z) {axes = [1], shape = (m, 2)} : f32[m,2]
        %out = add(%rows, %zs) : f32[m,2]
        yield %out, %scalars
      } : f32[n,2], f32[n]
      return %sum, %same
    })";
  Sample empty = rows;
  empty.label = "empty";
  empty.operands = {Rand(DType::kF32, {0, 2}), Rand(DType::kF32, {0}), Rand(DType::kF32, {2})};
  return {rows, empty};
}

}  // namespace

OpDef ShardOp() {
  OpDef op;
  op.name = "shard";
  op.summary =
      "a vectorized pfor: runs the region on consecutive ranges of the iterations, "
      "however cut, and concatenates the results";
  op.inputs = {0, kAny};
  op.outputs = {0, kAny};
  op.regions = {1, 1};
  op.attrs = {{"extent", Attr::Kind::kDims}, {"local", Attr::Kind::kString}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
