#include <algorithm>

#include "common/base/status.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

constexpr std::string_view kKinds[] = {"sum", "prod", "max", "min", "mean", "gather"};

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const std::string& kind = context.attr("kind").AsString();
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    return InvalidArgument("attribute 'kind' must be sum, prod, max, min, mean or gather, found '",
                           kind, "'");
  }
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  const TensorType& type = context.input(0);
  if (kind == "gather") return std::vector<TensorType>{control::WithLeading(extent, type)};
  if (kind == "mean" && !IsFloat(type.dtype) && !IsComplex(type.dtype)) {
    return InvalidArgument("the mean of ", type.ToString(), " is not of its type; convert it");
  }
  return std::vector<TensorType>{type};
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  return InvalidArgument("reduces over the iterations of a pfor, but there is none around it");
}

// In a branch, in a trip of a loop that iterations leave, and in one that collects in a branch.
Sample Inside(std::string_view kind) {
  Sample sample{.label = StrCat(kind, " of some"), .operands = {Rand(DType::kI64, {5}, 1, 4)}};
  const std::string reduce = StrCat("{extent = (5), kind = \"", kind, "\"}");
  sample.program = StrCat(R"(
    func @main(%x: i64[5]) -> (i64[5] "branch", i64[5] "trips", i64[5,2] "collected") {
      %zero = constant {value = i64[] {0}}
      %two = constant {value = i64[] {2}}
      %b5, %t5, %c5 = pfor {extent = (5)} (%i: i64[]) {
        %part = dynamic_slice(%x, %i) {sizes = (1)}
        %own = reshape(%part) {shape = ()}
        %odd = remainder(%i, %two)
        %is = equal(%odd, %zero)
        %y = if(%is) {
          %met = iteration_reduce(%own) )",
                          reduce, R"(
          %sum = add(%met, %i)
          yield %sum
        } {
          yield %own
        }
        %one = constant {value = i64[] {1}}
        %left, %seen = while(%own, %zero) (%a: i64[], %b: i64[]) {
          %more = greater(%a, %zero)
          yield %more
        } (%c: i64[], %d: i64[]) {
          %met2 = iteration_reduce(%c) )",
                          reduce, R"(
          %next = subtract(%c, %one)
          %all = add(%d, %met2)
          yield %next, %all
        }
        %rows = if(%is) {
          %r = for(%two) {extent = (2)} (%k: i64[]) {
            %z = add(%own, %k)
            %met3 = iteration_reduce(%z) )",
                          reduce, R"(
            yield %met3
          }
          yield %r
        } {
          %same = broadcast_in_dim(%own) {axes = [], shape = (2)}
          yield %same
        }
        yield %y, %seen, %rows
      }
      return %b5, %t5, %c5
    })");
  return sample;
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (std::string_view kind : {"sum", "max", "mean"}) {
    Sample centred{.label = std::string(kind), .operands = {Rand(DType::kF32, {2})}};
    centred.program = StrCat(R"(
    func @main(%x: f32[2]) -> (f32[3,2] "out") {
      %out = pfor {extent = (3)} (%i: i64[]) {
        %f = convert(%i) {dtype = f32} : f32[]
        %wide = broadcast_in_dim(%f) {axes = [], shape = (2)} : f32[2]
        %scaled = multiply(%wide, %x) : f32[2]
        %all = iteration_reduce(%scaled) {extent = (3), kind = ")",
                             kind, R"("} : f32[2]
        %centred = subtract(%scaled, %all) : f32[2]
        yield %centred
      } : f32[3,2]
      return %out
    })");
    samples.push_back(centred);
  }
  Sample everybody{.label = "gather", .operands = {Rand(DType::kF32, {2})}};
  everybody.program = R"(
    func @main(%x: f32[2]) -> (i64[3,3] "out") {
      %out = pfor {extent = (3)} (%i: i64[]) {
        %square = multiply(%i, %i) : i64[]
        %all = iteration_reduce(%square) {extent = (3), kind = "gather"} : i64[3]
        yield %all
      } : i64[3,3]
      return %out
    })";
  samples.push_back(everybody);
  for (std::string_view kind : {"sum", "prod", "min"}) samples.push_back(Inside(kind));
  return samples;
}

}  // namespace

OpDef IterationReduceOp() {
  OpDef op;
  op.name = "iteration_reduce";
  op.summary =
      "combines a value over all iterations of the pfor around it, of `extent`, that come there "
      "(jax.lax.psum, pmax, pmin, pmean, all_gather)";
  op.attrs = {{"extent", Attr::Kind::kDims}, {"kind", Attr::Kind::kString}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "the loop is cut in two where it stands, or around the loop that holds it";
  // It belongs to the loop around it, also where its operand does not.
  op.effect = Effect::kReadsState;
  op.samples = Samples;
  return op;
}

}  // namespace weir
