#include "common/ops/reduce/extremum.h"

#include <cmath>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/combine.h"

namespace weir {
namespace {

template <class T>
auto Comparable(T value) {
  if constexpr (kIsHalf<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <class T>
int64_t FindExtremum(const T* data, int64_t n, Extremum which) {
  if constexpr (kIsComplex<T>) {
    return 0;
  } else {
    int64_t best = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto value = Comparable(data[i]);
      if (IsNan(value)) return i;
      const auto held = Comparable(data[best]);
      if (which == Extremum::kMax ? value > held : value < held) best = i;
    }
    return best;
  }
}

}  // namespace

absl::StatusOr<std::vector<TensorType>> InferExtremum(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const int64_t axis = context.attr("axis").AsInt();
  const DType dtype = context.attr("dtype").AsDType();
  WEIR_RETURN_IF_ERROR(CheckAxis("axis", axis, operand.rank()));
  if (IsComplex(operand.dtype)) {
    return InvalidArgument("complex numbers have no order: ", OperandText(context, 0));
  }
  if (dtype != DType::kI32 && dtype != DType::kI64) {
    return InvalidArgument("attribute 'dtype' must be i32 or i64, found ", DTypeName(dtype));
  }
  if (operand.shape[static_cast<int>(axis)] == Dim(0)) {
    return InvalidArgument("axis ", axis, " of ", OperandText(context, 0), " has no elements");
  }
  Shape shape = operand.shape;
  shape.dims().erase(shape.dims().begin() + axis);
  return std::vector<TensorType>{{dtype, std::move(shape)}};
}

absl::StatusOr<std::vector<Tensor>> EvaluateExtremum(EvalContext& context, Extremum which) {
  const Tensor& operand = context.input(0);
  const int axis = static_cast<int>(context.attr("axis").AsInt());
  const int64_t n = operand.extent(axis);
  std::vector<int> permutation = ToInts(OtherAxes({axis}, operand.rank()));
  permutation.push_back(axis);
  const Tensor dense = operand.Transpose(permutation).Contiguous();
  Extents extents = dense.extents();
  extents.pop_back();
  Tensor out(context.output_dtype(0), extents);
  if (n == 0 && out.num_elements() > 0) {
    return InvalidArgument("axis ", axis, " of operand 0 ", ExtentsToString(operand.extents()),
                           " has no elements");
  }
  VisitDType(operand.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      const int64_t found = FindExtremum(dense.data<T>() + i * n, n, which);
      if (out.dtype() == DType::kI32) {
        out.mutable_data<int32_t>()[i] = static_cast<int32_t>(found);
      } else {
        out.mutable_data<int64_t>()[i] = found;
      }
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackExtremum(PforRewrite& rewrite) {
  return ReturnStacked(rewrite,
                       With(rewrite.node().attrs, "axis", rewrite.attr("axis").AsInt() + 1));
}

std::vector<Sample> ExtremumSamples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand operand, int axis, DType dtype) {
    samples.push_back({.label = std::move(label),
                       .operands = {std::move(operand)},
                       .attrs = {{"axis", axis}, {"dtype", dtype}}});
  };
  for (DType dtype : kAllDTypes) {
    // Few distinct integers, so that there are ties.
    if (!IsComplex(dtype)) add("", Rand(dtype, {3, 5, 7}, -3, 3), 1, DType::kI64);
  }
  for (int axis = 0; axis < 3; ++axis) add("axis", Rand(DType::kF32, {3, 5, 7}), axis, DType::kI32);
  add("ties", Exactly(Tensor::Of<float>({2, 4}, {1, 3, 3, 1, -0.0f, 0.0f, -0.0f, 0.0f})), 1,
      DType::kI64);
  add("not a number",
      Exactly(Tensor::Of<float>({2, 4}, {1, NAN, 3, NAN, INFINITY, -INFINITY, 2, NAN})), 1,
      DType::kI64);
  add("extent 1", Rand(DType::kF64, {4, 1}), 1, DType::kI32);
  add("to nothing", Rand(DType::kF32, {0, 3}), 1, DType::kI64);
  add("long", Rand(DType::kI8, {2, 1000}, -100, 100), 1, DType::kI32);
  return samples;
}

}  // namespace weir
