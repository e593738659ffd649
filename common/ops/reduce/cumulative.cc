#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/reduce/accumulator.h"
#include "common/ops/reduce/reduction.h"

namespace weir {
namespace {

template <Combiner combiner, class T>
void RunAlong(const T* in, T* out, int64_t n, int64_t stride, bool exclusive) {
  Accumulator<T> sum = Identity<combiner, Accumulator<T>>();
  for (int64_t i = 0; i < n; ++i) {
    const Accumulator<T> next =
        Combine<combiner, Accumulator<T>>(sum, ToAccumulator(in[i * stride]));
    out[i * stride] = FromAccumulator<T>(exclusive ? sum : next);
    sum = next;
  }
}

}  // namespace

absl::StatusOr<std::vector<TensorType>> InferCumulative(const InferContext& context,
                                                        Combiner combiner) {
  const TensorType& operand = context.input(0);
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", context.attr("axis").AsInt(), operand.rank()));
  if (!IsDefined(combiner, operand.dtype)) {
    return InvalidArgument("not defined for ", OperandText(context, 0));
  }
  return std::vector<TensorType>{operand};
}

absl::StatusOr<std::vector<Tensor>> EvaluateCumulative(EvalContext& context, Combiner combiner) {
  const Tensor operand = context.input(0).Contiguous();
  const int64_t axis = context.attr("axis").AsInt();
  const bool reverse = context.attr("reverse").AsBool();
  const bool exclusive = context.attr("exclusive").AsBool();
  Tensor out(operand.dtype(), operand.extents());
  if (out.num_elements() == 0) return std::vector<Tensor>{std::move(out)};
  const int64_t n = operand.extent(static_cast<int>(axis));
  const Extents strides = RowMajorStrides(operand.extents());
  const int64_t stride = strides[axis];
  Extents lines = operand.extents();
  lines[axis] = 1;
  Extents line(lines.size(), 0);
  do {
    int64_t first = reverse ? (n - 1) * stride : 0;
    for (size_t i = 0; i < line.size(); ++i) first += line[i] * strides[i];
    VisitCombiner(combiner, [&](auto tag) {
      VisitDType(operand.dtype(), [&]<class T>(TypeTag<T>) {
        RunAlong<decltype(tag)::value, T>(operand.data<T>() + first, out.mutable_data<T>() + first,
                                          n, reverse ? -stride : stride, exclusive);
      });
    });
  } while (NextIndex(lines, &line));
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackCumulative(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       With(rewrite.node().attrs, "axis", rewrite.attr("axis").AsInt() + 1));
}

}  // namespace weir
