#include <algorithm>

#include "common/base/status.h"
#include "common/ops/combine.h"
#include "common/ops/control/state.h"

namespace weir {
namespace {

constexpr std::string_view kKinds[] = {"sum", "max", "min"};

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckVariableName(context));
  const std::string& kind = context.attr("kind").AsString();
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    return InvalidArgument("attribute 'kind' must be sum, max or min, found '", kind, "'");
  }
  const TensorType& type = context.input(0);
  if (type.dtype == DType::kBool || (kind != "sum" && IsComplex(type.dtype))) {
    return InvalidArgument("a variable ", type.ToString(), " has no ", kind);
  }
  return std::vector<TensorType>();
}

Combiner CombinerOf(const std::string& kind) {
  return kind == "sum" ? Combiner::kAdd : kind == "max" ? Combiner::kMax : Combiner::kMin;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(Tensor * variable, VariableOf(context));
  const Tensor operand = context.input(0).Contiguous();
  Tensor updated = variable->Clone();
  VisitCombiner(CombinerOf(context.attr("kind").AsString()), [&](auto combiner) {
    VisitDType(updated.dtype(), [&]<class T>(TypeTag<T>) {
      T* data = updated.mutable_data<T>();
      for (int64_t i = 0; i < updated.num_elements(); ++i) {
        data[i] = CombineStored<decltype(combiner)::value, T>(data[i], operand.data<T>()[i]);
      }
    });
  });
  *variable = std::move(updated);
  return std::vector<Tensor>();
}

// Iterations that add in branches and loops, as often as each of them gets there.
std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (std::string_view kind : {"sum", "max", "min"}) {
    Sample sample{.label = std::string(kind), .operands = {Rand(DType::kI32, {}, 0, 9)}};
    sample.program = StrCat(R"(
    func @main() -> (i64[5] "out") {
      %two = constant {value = i64[] {2}}
      %out = pfor {extent = (5)} (%i: i64[]) {
        %odd = remainder(%i, %two)
        case(%odd) {
          yield
        } {
          %x = convert(%i) {dtype = i32}
          update_variable(%x) {name = "v", kind = ")",
                            kind, R"("}
          yield
        }
        %zero = constant {value = i64[] {0}}
        %end = while(%zero) (%k: i64[]) {
          %more = less(%k, %i)
          yield %more
        } (%k2: i64[]) {
          %x = convert(%k2) {dtype = i32}
          update_variable(%x) {name = "v", kind = ")",
                            kind, R"("}
          %one = constant {value = i64[] {1}}
          %next = add(%k2, %one)
          yield %next
        }
        yield %end
      }
      return %out
    })");
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

OpDef UpdateVariableOp() {
  OpDef op;
  op.name = "update_variable";
  op.summary = "adds to a variable of the program, or takes the larger or smaller, in any order";
  op.inputs = {1, 1};
  op.outputs = {0, 0};
  op.attrs = {{"name", Attr::Kind::kString}, {"kind", Attr::Kind::kString}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.no_pfor = "state is made values before loops are converted";
  op.effect = Effect::kCommutativeUpdate;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
