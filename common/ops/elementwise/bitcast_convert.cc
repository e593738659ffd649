#include <cstring>

#include "common/base/status.h"
#include "common/ops/elementwise/elementwise.h"

namespace weir {
namespace {

template <int size>
void CopyBits(const void* const* operands, void* result, int64_t n) {
  std::memcpy(result, operands[0], static_cast<size_t>(n) * size);
}

bool HasBits(DType dtype) { return dtype != DType::kBool && !IsComplex(dtype); }

TileFn FindBitcast(const Node&, absl::Span<const DType> operands, DType result, Isa) {
  if (!HasBits(operands[0]) || !HasBits(result) || SizeOf(operands[0]) != SizeOf(result)) {
    return nullptr;
  }
  switch (SizeOf(result)) {
    case 1:
      return &CopyBits<1>;
    case 2:
      return &CopyBits<2>;
    case 4:
      return &CopyBits<4>;
    default:
      return &CopyBits<8>;
  }
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const DType from = context.input(0).dtype, to = context.attr("dtype").AsDType();
  if (!HasBits(from) || !HasBits(to) || SizeOf(from) != SizeOf(to)) {
    return InvalidArgument("bits of ", DTypeName(from), " are no ", DTypeName(to),
                           "; both must be integers or floats of one size");
  }
  return std::vector<TensorType>{{to, context.input(0).shape}};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (DType to : kAllDTypes) {
    for (DType from : kAllDTypes) {
      if (!HasBits(from) || !HasBits(to) || SizeOf(from) != SizeOf(to)) continue;
      const std::vector<std::vector<DType>> dtypes = {{from}};
      for (Sample& sample : elementwise::DefaultSamples(dtypes, -100, 100)) {
        if (sample.label.empty() && sample.operands[0].extents != Extents{67}) continue;
        sample.attrs = {{"dtype", to}};
        samples.push_back(std::move(sample));
      }
    }
  }
  return samples;
}

}  // namespace

OpDef BitcastConvertOp() {
  OpDef op;
  op.name = "bitcast_convert";
  op.summary = "The same bits as another element type of the same size (StableHLO bitcast_convert)";
  op.inputs = {1, 1};
  op.attrs = {{"dtype", Attr::Kind::kDType}};
  op.infer = &Infer;
  op.reference = &elementwise::EvaluateElementwise;
  op.pfor = &elementwise::StackElementwise;
  op.may_overwrite = {0};
  op.elementwise = ElementwiseRule{&FindBitcast, 1};
  op.samples = &Samples;
  return op;
}

}  // namespace weir
