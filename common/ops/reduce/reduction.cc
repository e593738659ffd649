#include "common/ops/reduce/reduction.h"

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/reduce/accumulator.h"

namespace weir {
namespace {

constexpr int64_t kBlock = 128;

template <Combiner combiner, class T>
Accumulator<T> Fold(const T* data, int64_t n) {
  if (n <= kBlock) {
    Accumulator<T> sum = Identity<combiner, Accumulator<T>>();
    for (int64_t i = 0; i < n; ++i) {
      sum = Combine<combiner, Accumulator<T>>(sum, ToAccumulator(data[i]));
    }
    return sum;
  }
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const int64_t left = (blocks + 1) / 2 * kBlock;
  return Combine<combiner, Accumulator<T>>(Fold<combiner>(data, left),
                                           Fold<combiner>(data + left, n - left));
}

// The kept axes in front of the reduced ones, dense.
Tensor ReducedLast(const Tensor& operand, const Int64s& axes) {
  std::vector<int> permutation = ToInts(OtherAxes(axes, operand.rank()));
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (HasAxis(axes, axis)) permutation.push_back(axis);
  }
  return operand.Transpose(permutation).Contiguous();
}

}  // namespace

absl::StatusOr<std::vector<TensorType>> InferReduction(const InferContext& context,
                                                       Combiner combiner) {
  const TensorType& operand = context.input(0);
  const Int64s& axes = context.attr("axes").AsInts();
  WEIR_RETURN_IF_ERROR(CheckAxes("axes", axes, operand.rank()));
  if (!IsDefined(combiner, operand.dtype)) {
    return InvalidArgument("not defined for ", OperandText(context, 0));
  }
  Shape shape;
  for (int64_t axis : OtherAxes(axes, operand.rank())) {
    shape.dims().push_back(operand.shape[static_cast<int>(axis)]);
  }
  return std::vector<TensorType>{{operand.dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> EvaluateReduction(EvalContext& context, Combiner combiner) {
  const Tensor& operand = context.input(0);
  const Int64s& axes = context.attr("axes").AsInts();
  Extents extents;
  int64_t count = 1;
  for (int axis = 0; axis < operand.rank(); ++axis) {
    if (HasAxis(axes, axis)) {
      count *= operand.extent(axis);
    } else {
      extents.push_back(operand.extent(axis));
    }
  }
  const Tensor dense = ReducedLast(operand, axes);
  Tensor out(operand.dtype(), extents);
  VisitCombiner(combiner, [&](auto tag) {
    VisitDType(operand.dtype(), [&]<class T>(TypeTag<T>) {
      T* results = out.mutable_data<T>();
      const T* data = dense.data<T>();
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        results[i] = FromAccumulator<T>(Fold<decltype(tag)::value, T>(data + i * count, count));
      }
    });
  });
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackReduction(PforRewrite& rewrite) {
  return ReturnStacked(rewrite, {{"axes", Shifted(rewrite.attr("axes").AsInts())}});
}

}  // namespace weir
