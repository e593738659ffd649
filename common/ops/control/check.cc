#include "common/base/status.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& holds = context.input(0);
  if (holds.dtype != DType::kBool) {
    return InvalidArgument("the predicate must be bool, found ", holds.ToString());
  }
  for (int i = 1; i < context.num_inputs(); ++i) {
    const TensorType& index = context.input(i);
    const bool by_row = index.rank() == 1 && holds.rank() > 0 && index.shape[0] == holds.shape[0];
    if (index.dtype != DType::kI64 || (index.rank() != 0 && !by_row)) {
      return InvalidArgument("operand ", i,
                             ", an iteration, must be i64[] or have an element for "
                             "each row of the predicate ",
                             holds.ToString(), ", found ", index.ToString());
    }
  }
  return std::vector<TensorType>();
}

// "iteration 3, 1", outermost loop first.
std::string IterationsOf(const EvalContext& context, int64_t row) {
  std::string out;
  for (size_t i = 1; i < context.inputs().size(); ++i) {
    const Tensor& index = context.input(static_cast<int>(i));
    const int64_t iteration = index.rank() == 0 ? index.At<int64_t>({}) : index.At<int64_t>({row});
    StrAppend(&out, out.empty() ? " in iteration " : ", ", iteration);
  }
  return out;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor holds = context.input(0).Reshape({context.input(0).num_elements()});
  const int64_t rows = context.input(0).rank() == 0 ? 1 : context.input(0).extents()[0];
  for (int64_t i = 0; i < holds.num_elements(); ++i) {
    if (holds.At<bool>({i})) continue;
    return absl::FailedPreconditionError(
        StrCat("check failed", IterationsOf(context, i / (holds.num_elements() / rows)), ": ",
               context.attr("message").AsString()));
  }
  return std::vector<Tensor>();
}

absl::Status Pfor(PforRewrite& rewrite) {
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  rewrite.build().ApplyAll("check", std::move(operands), rewrite.node().attrs);
  rewrite.Return(std::vector<ValueId>());
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample one{.label = "one",
             .operands = {Fixed(Tensor::Scalar<bool>(true)), Rand(DType::kI64, {}, 0, 9)},
             .attrs = {{"message", "must hold"}}};
  Sample none{.label = "no element",
              .operands = {Rand(DType::kBool, {0, 2})},
              .attrs = {{"message", "must hold"}}};
  return {one, none};
}

}  // namespace

OpDef CheckOp() {
  OpDef op;
  op.name = "check";
  op.summary = "fails the run if an element is false; the message names the iterations given";
  op.inputs = {1, kAny};
  op.outputs = {0, 0};
  op.attrs = {{"message", Attr::Kind::kString}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.effect = Effect::kCommutativeUpdate;
  op.samples = Samples;
  return op;
}

}  // namespace weir
