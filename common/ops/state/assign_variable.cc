#include "common/base/status.h"
#include "common/ops/control/state.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckVariableName(context));
  return std::vector<TensorType>();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(Tensor * variable, VariableOf(context));
  *variable = context.input(0);
  return std::vector<Tensor>();
}

// Reads before and after, and an assignment that only happens in some trips of a loop.
std::vector<Sample> Samples() {
  Sample sample{.label = "in a loop", .operands = {Rand(DType::kI64, {}, 0, 9)}};
  sample.program = R"(
    func @main() -> (i64[4] "out", i64[] "end") {
      %trips = constant {value = i64[] {4}}
      %two = constant {value = i64[] {2}}
      %zero = constant {value = i64[] {0}}
      %seen = for(%trips) {extent = (4)} (%k: i64[]) {
        %before = read_variable {name = "v", dtype = i64, shape = ()}
        %odd = remainder(%k, %two)
        %even = equal(%odd, %zero)
        if(%even) {
          %next = multiply(%before, %k)
          assign_variable(%next) {name = "v"}
          yield
        } {
          yield
        }
        yield %before
      }
      %end = read_variable {name = "v", dtype = i64, shape = ()}
      return %seen, %end
    })";
  return {sample};
}

}  // namespace

OpDef AssignVariableOp() {
  OpDef op;
  op.name = "assign_variable";
  op.summary = "replaces the value of a variable of the program; not in a pfor";
  op.inputs = {1, 1};
  op.outputs = {0, 0};
  op.attrs = {{"name", Attr::Kind::kString}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "which iteration's value would count is undefined";
  op.effect = Effect::kOrderedUpdate;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
