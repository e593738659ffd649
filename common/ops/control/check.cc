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
    bool is_prefix = index.rank() <= holds.rank();
    for (int axis = 0; is_prefix && axis < index.rank(); ++axis) {
      is_prefix = index.shape[axis] == holds.shape[axis];
    }
    if (index.dtype != DType::kI64 || !is_prefix) {
      return InvalidArgument("operand ", i,
                             ", iterations, must be i64 with leading axes of the "
                             "predicate ",
                             holds.ToString(), ", found ", index.ToString());
    }
  }
  return std::vector<TensorType>();
}

// " in iteration 3, 1" for an element of the predicate, outermost loop first.
std::string IterationsOf(const EvalContext& context, int64_t element) {
  std::string out;
  for (int i = 1; i < static_cast<int>(context.inputs().size()); ++i) {
    const int64_t count = context.input(i).num_elements();
    const int64_t elements_each = context.input(0).num_elements() / count;
    const Tensor iterations = context.input(i).Reshape({count});
    StrAppend(&out, out.empty() ? " in iteration " : ", ",
              iterations.At<int64_t>({element / elements_each}));
  }
  return out;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor holds = context.input(0).Reshape({context.input(0).num_elements()});
  for (int64_t i = 0; i < holds.num_elements(); ++i) {
    if (holds.At<bool>({i})) continue;
    return absl::FailedPreconditionError(
        StrCat("check failed", IterationsOf(context, i), ": ", context.attr("message").AsString()));
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
  Sample rows{.label = "rows",
              .operands = {Fixed(Tensor::Of<bool>({2, 3}, {true, true, true, true, true, true})),
                           Rand(DType::kI64, {2, 3}, 0, 9), Rand(DType::kI64, {2}, 0, 9)},
              .attrs = {{"message", "must hold"}}};
  return {one, none, rows};
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
