#include "common/base/status.h"
#include "common/ops/control/assignment.h"
#include "common/ops/control/state.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckVariableName(context));
  if (const Attr* mode = context.node().FindAttr("mode")) {
    WEIR_RETURN_IF_ERROR(control::CheckAssignMode(mode->AsString(), context.input(0)));
  }
  return std::vector<TensorType>();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(Tensor * variable, VariableOf(context));
  *variable = context.input(0);
  return std::vector<Tensor>();
}

// In a branch, a loop and a pfor of some iterations, and a read where all of them meet.
Sample InLoops(std::string_view mode) {
  Sample sample{.label = std::string(mode), .operands = {Rand(DType::kF64, {2}, 0, 9)}};
  sample.program = StrCat(R"(
    func @main() -> (f64[5,2] "seen") {
      %two = constant {value = i64[] {2}}
      %seen = pfor {extent = (5)} (%i: i64[]) {
        %before = read_variable {name = "v", dtype = f64, shape = (2)}
        %f = convert(%i) {dtype = f64}
        %wide = broadcast_in_dim(%f) {axes = [], shape = (2)}
        %x = add(%before, %wide)
        %odd = remainder(%i, %two)
        case(%odd) {
          yield
        } {
          assign_variable(%x) {name = "v", mode = ")",
                          mode, R"("}
          yield
        }
        %met = read_variable {name = "v", dtype = f64, shape = (2)}
        for(%odd) (%k: i64[]) {
          pfor {extent = (3)} (%j: i64[]) {
            %g = convert(%j) {dtype = f64}
            %wide2 = broadcast_in_dim(%g) {axes = [], shape = (2)}
            %y = multiply(%wide2, %x)
            assign_variable(%y) {name = "v", mode = ")",
                          mode, R"("}
            yield
          }
          yield
        }
        yield %met
      }
      return %seen
    })");
  return sample;
}

// Each iteration sees those before it; what does not depend on that stays outside.
Sample InOrder() {
  Sample sample{.label = "ordered", .operands = {Rand(DType::kI64, {}, 0, 9)}};
  sample.program = R"(
    func @main() -> (i64[4] "seen", i64[4] "doubled") {
      %two = constant {value = i64[] {2}}
      %seen, %doubled = pfor {extent = (4)} (%i: i64[]) {
        %square = multiply(%i, %i)
        %before = read_variable {name = "v", dtype = i64, shape = ()}
        %odd = remainder(%i, %two)
        case(%odd) {
          %sum = add(%before, %square)
          assign_variable(%sum) {name = "v", mode = "ordered"}
          yield
        } {
          update_variable(%i) {name = "v", kind = "sum"}
          yield
        }
        %after = read_variable {name = "v", dtype = i64, shape = ()}
        %twice = multiply(%after, %two)
        yield %before, %twice
      }
      return %seen, %doubled
    })";
  return sample;
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
  std::vector<Sample> samples = {sample};
  for (std::string_view mode : {"last", "mean", "sum"}) samples.push_back(InLoops(mode));
  samples.push_back(InOrder());
  return samples;
}

}  // namespace

OpDef AssignVariableOp() {
  OpDef op;
  op.name = "assign_variable";
  op.summary =
      "replaces the value of a variable of the program; in a pfor by the last, the mean or the sum "
      "of what the iterations assign, or in their order";
  op.inputs = {1, 1};
  op.outputs = {0, 0};
  op.attrs = {{"name", Attr::Kind::kString}, {"mode", Attr::Kind::kString, /*required=*/false}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "state is made values before loops are converted";
  op.effect = Effect::kOrderedUpdate;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
