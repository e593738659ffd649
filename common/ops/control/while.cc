#include "common/base/status.h"
#include "common/ops/control/region.h"
#include "common/ops/control/row_loop.h"

namespace weir {
namespace {

constexpr int kCondition = 0;
constexpr int kBody = 1;

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const std::vector<TensorType> types = control::OperandTypes(context, 0);
  for (int region : {kCondition, kBody}) {
    WEIR_RETURN_IF_ERROR(
        control::CheckEqualTypes(region == kBody ? "body argument" : "condition argument",
                                 control::ArgTypes(context, region), "operand", types));
  }
  const std::vector<TensorType> condition = context.ResultTypes(kCondition);
  if (condition.size() != 1) {
    return InvalidArgument("the condition must yield one value, found ", condition.size());
  }
  WEIR_RETURN_IF_ERROR(control::CheckScalar("the condition", condition[0], DType::kBool));
  WEIR_RETURN_IF_ERROR(
      control::CheckEqualTypes("body result", context.ResultTypes(kBody), "operand", types));
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  std::vector<Tensor> carried(context.inputs().begin(), context.inputs().end());
  for (int64_t trip = 0;; ++trip) {
    absl::StatusOr<std::vector<Tensor>> condition = context.RunRegion(kCondition, carried);
    if (!condition.ok()) return control::InIteration(condition.status(), trip);
    if (!condition->front().At<bool>({})) return carried;
    absl::StatusOr<std::vector<Tensor>> results = context.RunRegion(kBody, std::move(carried));
    if (!results.ok()) return control::InIteration(results.status(), trip);
    carried = *std::move(results);
  }
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const Graph& graph = context.graph();
  const int count = static_cast<int>(node.inputs.size());
  control::MarkCarried(context, {.body = node.regions[kBody], .count = count});
  const Region& condition = graph.region(node.regions[kCondition]);
  const Region& body = graph.region(node.regions[kBody]);
  for (int i = 0; i < count; ++i) {
    if (context.varies(body.args[i])) context.MarkVarying(condition.args[i]);
  }
  context.AnalyzeRegion(node.regions[kCondition]);
  const bool diverges = context.varies(condition.results[0]);
  for (int i = 0; i < count; ++i) {
    if (diverges || context.varies(body.args[i])) context.MarkVarying(node.outputs[i]);
  }
}

absl::Status ByRows(PforRewrite& rewrite) {
  const RegionId condition_source = rewrite.node().regions[kCondition];
  const RegionId body_source = rewrite.node().regions[kBody];
  control::RowLoop loop(rewrite, {.body = body_source, .count = rewrite.num_inputs()});
  control::RowLoop::Part condition = loop.NewPart();
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> goes_on, loop.Convert(condition, condition_source, 0));
  condition.into.Yield(std::move(goes_on));
  control::RowLoop::Part body = loop.NewPart();
  WEIR_ASSIGN_OR_RETURN(const std::vector<ValueId> next, loop.Convert(body, body_source, 0));
  loop.Yield(body, {}, next);
  rewrite.Return(loop.Finish(condition.region, body.region));
  return absl::OkStatus();
}

absl::Status Pfor(PforRewrite& rewrite) {
  if (control::ResultsVary(rewrite, kCondition)[0]) return ByRows(rewrite);
  const std::vector<bool> stack = control::ArgsVary(rewrite, kBody);
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) {
    operands.push_back(stack[i] ? rewrite.stacked(i) : rewrite.operand(i));
  }
  WEIR_ASSIGN_OR_RETURN(const RegionId condition, control::Convert(rewrite, kCondition, {false}));
  WEIR_ASSIGN_OR_RETURN(const RegionId body, control::Convert(rewrite, kBody, stack));
  rewrite.Return(rewrite.build().ApplyAll("while", std::move(operands), rewrite.node().attrs,
                                          {condition, body}));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample doubling{.label = "doubling", .operands = {Rand(DType::kF32, {2})}};
  doubling.program = R"(
    func @main(%x: f32[2]) -> (i64[] "count", f32[2] "out") {
      %zero = constant {value = i64[] {0}} : i64[]
      %one = constant {value = i64[] {1}} : i64[]
      %limit = constant {value = i64[] {3}} : i64[]
      %count, %out = while(%zero, %x) (%i: i64[], %v: f32[2]) {
        %more = less(%i, %limit) : bool[]
        yield %more
      } (%i: i64[], %v: f32[2]) {
        %next = add(%i, %one) : i64[]
        %twice = add(%v, %v) : f32[2]
        yield %next, %twice
      } : i64[], f32[2]
      return %count, %out
    })";
  Sample never{.label = "no trip", .operands = {Rand(DType::kF32, {2})}};
  never.program = R"(
    func @main(%x: f32[2]) -> (f32[2] "out") {
      %no = constant {value = bool[] {false}} : bool[]
      %out = while(%x) (%v: f32[2]) {
        yield %no
      } (%v: f32[2]) {
        %twice = add(%v, %x) : f32[2]
        yield %twice
      } : f32[2]
      return %out
    })";
  return {doubling, never};
}

}  // namespace

OpDef WhileOp() {
  OpDef op;
  op.name = "while";
  op.summary = "runs the body as long as the condition holds (StableHLO while)";
  op.inputs = {0, kAny};
  op.outputs = {0, kAny};
  op.regions = {2, 2};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
