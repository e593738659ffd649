#include "common/ops/elementwise/elementwise.h"

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/ops/registry.h"

namespace weir::elementwise {

absl::StatusOr<std::vector<TensorType>> InferElementwise(const InferContext& context,
                                                         ResultDTypeFn result_dtype) {
  std::vector<DType> dtypes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const TensorType& type = context.input(i);
    if (type.shape != context.input(0).shape) {
      return InvalidArgument("operands must have equal shapes, found ", context.input(0).ToString(),
                             " and ", type.ToString());
    }
    dtypes.push_back(type.dtype);
  }
  const std::optional<DType> result = result_dtype(context.node(), dtypes);
  if (!result.has_value()) {
    return InvalidArgument(
        "not defined for operand types (",
        absl::StrJoin(dtypes, ", ",
                      [](std::string* out, DType t) { StrAppend(out, DTypeName(t)); }),
        "); insert convert ops");
  }
  return std::vector<TensorType>{{*result, context.input(0).shape}};
}

absl::StatusOr<std::vector<Tensor>> EvaluateElementwise(EvalContext& context) {
  std::vector<Tensor> dense;
  std::vector<DType> dtypes;
  std::vector<const void*> operands;
  for (const Tensor& input : context.inputs()) {
    dense.push_back(input.Contiguous());
    dtypes.push_back(input.dtype());
    operands.push_back(dense.back().raw_data());
  }
  const OpDef& op = *FindOp(context.node().op);
  Tensor out(context.output_dtype(0), context.input(0).extents());
  const TileFn tile = op.elementwise->find(context.node(), dtypes, out.dtype(), Isa::kBaseline);
  tile(operands.data(), out.raw_mutable_data(), out.num_elements());
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackElementwise(PforRewrite& rewrite) {
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  rewrite.Return(rewrite.build().Apply(rewrite.node().op, operands, rewrite.node().attrs));
  return absl::OkStatus();
}

namespace {

template <class T>
std::vector<T> SpecialValues() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    return {0, 1, 2, static_cast<T>(-1), 7, 8 * sizeof(T), Limits::min(), Limits::max()};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {T(0),
            -T(0),
            T(1),
            T(-1),
            T(0.5),
            T(-2.5),
            Limits::min(),
            Limits::denorm_min(),
            Limits::max(),
            Limits::lowest(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN()};
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    std::vector<T> out;
    for (float v : SpecialValues<float>()) out.push_back(T(v));
    out.push_back(T::FromBits(1));
    return out;
  } else {
    using Part = typename T::value_type;
    return {T(0, 0), T(1, 0), T(0, -1), T(3, 4), T(std::numeric_limits<Part>::infinity(), Part(1))};
  }
}

// Operand k of `count` operands: with the others, every combination of special values.
Tensor Combinations(DType dtype, const std::vector<int64_t>& sizes, size_t k) {
  int64_t total = 1, inner = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    total *= sizes[i];
    if (i > k) inner *= sizes[i];
  }
  Tensor out(dtype, {total});
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    const std::vector<T> values = SpecialValues<T>();
    for (int64_t i = 0; i < total; ++i) {
      out.mutable_data<T>()[i] = values[(i / inner) % sizes[k]];
    }
  });
  return out;
}

Sample SpecialSample(const std::vector<DType>& dtypes) {
  std::vector<int64_t> sizes;
  for (DType dtype : dtypes) {
    VisitDType(dtype, [&]<class T>(TypeTag<T>) {
      sizes.push_back(static_cast<int64_t>(SpecialValues<T>().size()));
    });
  }
  Sample sample{.label = "special values"};
  for (size_t k = 0; k < dtypes.size(); ++k) {
    sample.operands.push_back(Exactly(Combinations(dtypes[k], sizes, k)));
  }
  return sample;
}

}  // namespace

std::vector<Sample> DefaultSamples(absl::Span<const std::vector<DType>> dtypes, double lo,
                                   double hi) {
  std::vector<Sample> samples;
  const Extents shapes[] = {{2, 3}, {}, {0, 3}, {67}};
  for (const std::vector<DType>& operand_dtypes : dtypes) {
    for (const Extents& extents : shapes) {
      if (operand_dtypes != dtypes[0] && extents != shapes[0]) continue;
      Sample sample;
      for (DType dtype : operand_dtypes) sample.operands.push_back(Rand(dtype, extents, lo, hi));
      samples.push_back(std::move(sample));
    }
    samples.push_back(SpecialSample(operand_dtypes));
  }
  return samples;
}

}  // namespace weir::elementwise
