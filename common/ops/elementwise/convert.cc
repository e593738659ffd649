#include "common/ops/elementwise/elementwise.h"
#include "common/ops/scalar/scalar.h"

namespace weir {
namespace {

using elementwise::Operands;
using elementwise::Types;
using Scalars = elementwise::Join<elementwise::Reals, elementwise::Bools>;

template <class To>
struct ConvertTo {
  template <class T>
  WEIR_ALWAYS_INLINE To operator()(T x) const {
    if constexpr (elementwise::Contains<To>(elementwise::Complexes{})) {
      using Part = typename To::value_type;
      if constexpr (scalar::Complex<T>) {
        return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
      } else {
        return To(scalar::Convert<Part>(x), Part{0});
      }
    } else {
      return scalar::Convert<To>(x);
    }
  }
};

template <class To, class... From>
TileFn FindFrom(Types<From...>, DType from, Isa isa) {
  TileFn found = nullptr;
  ((kDTypeOf<From> == from
        ? void(found = elementwise::Pick<ConvertTo<To>, To>(Operands<From>{}, isa))
        : void()),
   ...);
  return found;
}

// Complex numbers convert to complex types only; `real` and `imag` take them apart.
TileFn FindConvert(const Node&, absl::Span<const DType> operands, DType result, Isa isa) {
  TileFn found = nullptr;
  VisitDType(result, [&]<class To>(TypeTag<To>) {
    if constexpr (elementwise::Contains<To>(elementwise::Complexes{})) {
      found = FindFrom<To>(elementwise::Everything{}, operands[0], isa);
    } else {
      found = FindFrom<To>(Scalars{}, operands[0], isa);
    }
  });
  return found;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  return elementwise::InferElementwise(
      context, [](const Node& node, absl::Span<const DType> operands) -> std::optional<DType> {
        const DType result = node.attr("dtype").AsDType();
        if (IsComplex(operands[0]) && !IsComplex(result)) return std::nullopt;
        return result;
      });
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (DType to : kAllDTypes) {
    for (DType from : kAllDTypes) {
      if (IsComplex(from) && !IsComplex(to)) continue;
      const std::vector<std::vector<DType>> dtypes = {{from}};
      for (Sample& sample : elementwise::DefaultSamples(dtypes, -300, 300)) {
        if (sample.label.empty() && sample.operands[0].extents != Extents{67}) continue;
        sample.attrs = {{"dtype", to}};
        samples.push_back(std::move(sample));
      }
    }
  }
  return samples;
}

}  // namespace

OpDef ConvertOp() {
  OpDef op;
  op.name = "convert";
  op.summary =
      "The same number in another element type; reals become integers rounded to zero and "
      "saturated, NaN 0 (StableHLO convert)";
  op.inputs = {1, 1};
  op.attrs = {{"dtype", Attr::Kind::kDType}};
  op.infer = &Infer;
  op.reference = &elementwise::EvaluateElementwise;
  op.pfor = &elementwise::StackElementwise;
  op.elementwise = ElementwiseRule{&FindConvert, 1};
  op.samples = &Samples;
  return op;
}

}  // namespace weir
