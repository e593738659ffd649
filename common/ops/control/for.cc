#include <algorithm>

#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/row_loop.h"
#include "common/ops/control/rows.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(
      control::CheckScalar("operand 0, the trip count,", context.input(0), DType::kI64));
  const std::vector<TensorType> carried = control::OperandTypes(context, 1);
  std::vector<TensorType> args = {control::IndexType()};
  args.insert(args.end(), carried.begin(), carried.end());
  WEIR_RETURN_IF_ERROR(
      control::CheckEqualTypes("region argument", control::ArgTypes(context, 0), "operand", args));
  std::vector<TensorType> types = context.ResultTypes(0);
  if (types.size() < carried.size()) {
    return InvalidArgument("the region must yield the ", carried.size(),
                           " carried values first, found ", types.size(), " results");
  }
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes(
      "region result", absl::MakeSpan(types).subspan(0, carried.size()), "carried value", carried));
  const bool collects = types.size() > carried.size();
  if (collects != (context.node().FindAttr("extent") != nullptr)) {
    return InvalidArgument(collects ? "attribute 'extent' is missing: the region yields "
                                      "values to collect"
                                    : "attribute 'extent' without a value to collect");
  }
  if (!collects) return types;
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  for (size_t i = carried.size(); i < types.size(); ++i) {
    types[i] = control::WithLeading(extent, types[i]);
  }
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const int64_t trips = std::max<int64_t>(0, context.input(0).At<int64_t>({}));
  const int num_carried = static_cast<int>(context.inputs().size()) - 1;
  if (context.node().FindAttr("extent") != nullptr) {
    WEIR_ASSIGN_OR_RETURN(const Extents extent, context.Evaluate("extent"));
    if (extent[0] != trips) {
      return InvalidArgument("the trip count is ", trips, ", but the extent of what is collected ",
                             extent[0]);
    }
  }
  std::vector<Tensor> carried(context.inputs().begin() + 1, context.inputs().end());
  control::Collector collector(context, num_carried);
  for (int64_t i = 0; i < trips; ++i) {
    carried.insert(carried.begin(), Tensor::Scalar<int64_t>(i));
    absl::StatusOr<std::vector<Tensor>> results = context.RunRegion(0, std::move(carried));
    if (!results.ok()) return control::InIteration(results.status(), i);
    WEIR_RETURN_IF_ERROR(control::InIteration(collector.Add(*results, num_carried), i));
    carried.assign(results->begin(), results->begin() + num_carried);
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> collected, collector.Take());
  carried.insert(carried.end(), collected.begin(), collected.end());
  return carried;
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const RegionId region = node.regions[0];
  const int num_carried = static_cast<int>(node.inputs.size()) - 1;
  control::MarkCarried(context,
                       {.body = region, .count = num_carried, .first_arg = 1, .first_operand = 1});
  const Region& body = context.graph().region(region);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const bool is_carried = i < static_cast<size_t>(num_carried);
    if (context.input_varies(0) ||
        context.varies(is_carried ? body.args[1 + i] : body.results[i])) {
      context.MarkVarying(node.outputs[i]);
    }
  }
}

// The trip counter is the same for all rows that still run.
absl::Status ByRows(PforRewrite& rewrite) {
  const Node node = rewrite.node();
  if (node.FindAttr("extent") != nullptr) {
    return absl::UnimplementedError(
        "the number of trips varies over the iterations, and each trip yields a value to collect");
  }
  Builder& build = rewrite.build();
  const RegionId source = node.regions[0];
  control::RowLoop loop(
      rewrite,
      {.body = source, .count = rewrite.num_inputs() - 1, .first_arg = 1, .first_operand = 1});
  loop.AddShared(build.Scalar<int64_t>(0));
  loop.AddConstant(node.inputs[0]);
  control::RowLoop::Part condition = loop.NewPart();
  const auto trips =
      std::find_if(condition.constants.begin(), condition.constants.end(),
                   [&](const auto& constant) { return constant.source == node.inputs[0]; });
  const ValueId counter =
      control::RepeatRows(condition.into, condition.extra_shared[0], loop.part());
  condition.into.Yield({condition.into.Apply("less", {counter, trips->rows})});
  control::RowLoop::Part body = loop.NewPart();
  rewrite.Bind(rewrite.source().region(source).args[0], body.extra_shared[0]);
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> next, loop.Convert(body, source, 1));
  const ValueId one = body.into.Scalar<int64_t>(1);
  loop.Yield(body, {body.into.Apply("add", {body.extra_shared[0], one})}, next);
  rewrite.Return(loop.Finish(condition.region, body.region));
  return absl::OkStatus();
}

absl::Status Pfor(PforRewrite& rewrite) {
  if (rewrite.input_varies(0)) return ByRows(rewrite);
  const size_t num_carried = rewrite.num_inputs() - 1;
  std::vector<bool> stack = control::ResultsVary(rewrite, 0);
  const std::vector<bool> args_vary = control::ArgsVary(rewrite, 0);
  std::vector<ValueId> operands = {rewrite.operand(0)};
  for (size_t i = 0; i < num_carried; ++i) {
    stack[i] = args_vary[1 + i];
    operands.push_back(stack[i] ? rewrite.stacked(1 + i) : rewrite.operand(1 + i));
  }
  WEIR_ASSIGN_OR_RETURN(const RegionId body, control::Convert(rewrite, 0, stack));
  Builder& build = rewrite.build();
  std::vector<ValueId> outputs =
      build.ApplyAll("for", std::move(operands), rewrite.node().attrs, {body});
  for (size_t i = num_carried; i < outputs.size(); ++i) {
    if (stack[i]) outputs[i] = control::SwapLeading(build, outputs[i]);
  }
  rewrite.Return(std::move(outputs));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample cumulative{.label = "cumulative", .operands = {Rand(DType::kF32, {2})}};
  cumulative.program = R"(
    func @main(%x: f32[2]) -> (f32[2] "last", f32[3,2] "all") {
      %trips = constant {value = i64[] {3}} : i64[]
      %last, %all = for(%trips, %x) {extent = (3)} (%i: i64[], %sum: f32[2]) {
        %next = add(%sum, %x) : f32[2]
        yield %next, %next
      } : f32[2], f32[3,2]
      return %last, %all
    })";
  Sample swap{.label = "swapped state",
              .operands = {Rand(DType::kF32, {2}), Rand(DType::kF32, {2})}};
  swap.program = R"(
    func @main(%x: f32[2], %y: f32[2]) -> (f32[2] "a", f32[2] "b") {
      %trips = constant {value = i64[] {3}} : i64[]
      %a, %b = for(%trips, %x, %y) (%i: i64[], %c: f32[2], %d: f32[2]) {
        yield %d, %c
      } : f32[2], f32[2]
      return %a, %b
    })";
  Sample none{.label = "negative count", .operands = {Rand(DType::kF32, {2})}};
  none.program = R"(
    func @main(%x: f32[2]) -> (f32[2] "last", i64[0] "indices") {
      %trips = constant {value = i64[] {-2}} : i64[]
      %last, %indices = for(%trips, %x) {extent = (0)} (%i: i64[], %sum: f32[2]) {
        %next = add(%sum, %x) : f32[2]
        yield %next, %i
      } : f32[2], i64[0]
      return %last, %indices
    })";
  return {cumulative, swap, none};
}

}  // namespace

OpDef ForOp() {
  OpDef op;
  op.name = "for";
  op.summary = "a counted loop: carries values from trip to trip and collects others";
  op.inputs = {1, kAny};
  op.outputs = {0, kAny};
  op.regions = {1, 1};
  op.attrs = {{"extent", Attr::Kind::kDims, /*required=*/false}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
