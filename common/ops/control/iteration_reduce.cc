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
  return InvalidArgument("reduces over the iterations of a loop, which is cut in two there first");
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
  return samples;
}

}  // namespace

OpDef IterationReduceOp() {
  OpDef op;
  op.name = "iteration_reduce";
  op.summary =
      "combines a value over all iterations of the pfor around it, of `extent` (jax.lax.psum, "
      "pmax, "
      "pmin, pmean, all_gather)";
  op.attrs = {{"extent", Attr::Kind::kDims}, {"kind", Attr::Kind::kString}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "the loop is cut in two where it stands";
  // It belongs to the loop around it, also where its operand does not.
  op.effect = Effect::kReadsState;
  op.samples = Samples;
  return op;
}

}  // namespace weir
