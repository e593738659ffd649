#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/control/state.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckVariableName(context));
  Shape shape(context.attr("shape").AsDims());
  WEIR_RETURN_IF_ERROR(CheckDims("shape", shape.dims()));
  return std::vector<TensorType>{{context.attr("dtype").AsDType(), std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Tensor* variable, VariableOf(context));
  return std::vector<Tensor>{*variable};
}

std::vector<Sample> Samples() {
  Sample one{.label = "in every iteration", .operands = {Rand(DType::kF32, {2})}};
  one.program = R"(
    func @main() -> (f32[3,2] "out") {
      %out = pfor {extent = (3)} (%i: i64[]) {
        %w = read_variable {name = "w", dtype = f32, shape = (2)}
        %f = convert(%i) {dtype = f32}
        %wide = broadcast_in_dim(%f) {axes = [], shape = (2)}
        %y = multiply(%wide, %w)
        yield %y
      }
      return %out
    })";
  Sample sees{.label = "what all iterations added", .operands = {Rand(DType::kI64, {}, 0, 9)}};
  sees.program = R"(
    func @main() -> (i64[4] "out") {
      %out = pfor {extent = (4)} (%i: i64[]) {
        update_variable(%i) {name = "sum", kind = "sum"}
        %sum = read_variable {name = "sum", dtype = i64, shape = ()}
        %y = subtract(%sum, %i)
        yield %y
      }
      return %out
    })";
  return {one, sees};
}

}  // namespace

OpDef ReadVariableOp() {
  OpDef op;
  op.name = "read_variable";
  op.summary =
      "the value of a variable of the program; in a pfor, with what all iterations wrote before";
  op.inputs = {0, 0};
  op.attrs = {
      {"name", Attr::Kind::kString}, {"dtype", Attr::Kind::kDType}, {"shape", Attr::Kind::kDims}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "state is made values before loops are converted";
  op.effect = Effect::kReadsState;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
