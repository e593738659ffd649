#include "common/ops/movement/starts.h"

#include <algorithm>

#include "common/base/status.h"

namespace weir {

absl::Status CheckStarts(const InferContext& context, int first) {
  const int rank = context.input(0).rank();
  if (context.num_inputs() != first + rank) {
    return InvalidArgument("needs one start index for each axis of ", OperandText(context, 0),
                           ", found ", context.num_inputs() - first);
  }
  for (int i = first; i < context.num_inputs(); ++i) {
    if (context.input(i) == TensorType{DType::kI64, Shape()}) continue;
    return InvalidArgument("start index ", i - first, ", ", OperandText(context, i),
                           ", must be i64[]");
  }
  return absl::OkStatus();
}

absl::Status CheckFits(const InferContext& context, const Shape& slice, std::string_view what) {
  const Shape& shape = context.input(0).shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!MustExceed(0, slice[axis]) &&
        (shape[axis] == Dim(0) || !MustExceed(slice[axis], shape[axis]))) {
      continue;
    }
    return InvalidArgument(what, " ", slice.ToString(), " does not fit into ",
                           OperandText(context, 0), ": axis ", axis);
  }
  return absl::OkStatus();
}

absl::StatusOr<Extents> ClampedStarts(const EvalContext& context, int first,
                                      absl::Span<const int64_t> slice) {
  const Extents& extents = context.input(0).extents();
  Extents starts(extents.size());
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (slice[axis] > extents[axis]) {
      return InvalidArgument("a slice of ", ExtentsToString(slice), " does not fit into operand 0 ",
                             ExtentsToString(extents));
    }
    starts[axis] = std::clamp<int64_t>(context.input(first + axis).At<int64_t>({}), 0,
                                       extents[axis] - slice[axis]);
  }
  return starts;
}

bool StartsVary(const PforRewrite& rewrite, int first) {
  for (int i = first; i < rewrite.num_inputs(); ++i) {
    if (rewrite.input_varies(i)) return true;
  }
  return false;
}

std::vector<ValueId> InvariantStarts(PforRewrite& rewrite, int first) {
  std::vector<ValueId> starts = {rewrite.build().Scalar<int64_t>(0)};
  for (int i = first; i < rewrite.num_inputs(); ++i) starts.push_back(rewrite.operand(i));
  return starts;
}

ValueId IndexRows(PforRewrite& rewrite, const std::vector<ValueId>& columns) {
  Builder& b = rewrite.build();
  std::vector<ValueId> parts;
  for (ValueId column : columns) {
    parts.push_back(
        b.Apply("reshape", {column}, {{"shape", std::vector<Dim>{rewrite.extent(), 1}}}));
  }
  return parts.size() == 1 ? parts[0] : b.Apply("concatenate", parts, {{"axis", 1}});
}

}  // namespace weir
