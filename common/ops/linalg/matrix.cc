#include "common/ops/linalg/matrix.h"

#include <cmath>

#include "common/base/status.h"

namespace weir {

absl::Status CheckMatrices(const InferContext& context, int i) {
  const TensorType& type = context.input(i);
  if (type.rank() < 2) {
    return InvalidArgument(OperandText(context, i), " must have at least two axes, [..., m, n]");
  }
  for (DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128}) {
    if (type.dtype == dtype) return absl::OkStatus();
  }
  return InvalidArgument("defined for f32, f64, c64 and c128, found ", OperandText(context, i),
                         "; insert convert ops");
}

absl::Status CheckSquareMatrices(const InferContext& context, int i) {
  WEIR_RETURN_IF_ERROR(CheckMatrices(context, i));
  const Shape& shape = context.input(i).shape;
  if (MustDiffer(shape[shape.rank() - 2], shape[shape.rank() - 1])) {
    return InvalidArgument("the matrices of ", OperandText(context, i), " must be square");
  }
  return absl::OkStatus();
}

absl::Status CheckSquareExtents(const Tensor& tensor) {
  if (tensor.extent(tensor.rank() - 2) == tensor.extent(tensor.rank() - 1)) return absl::OkStatus();
  return InvalidArgument("matrices must be square, found ", ExtentsToString(tensor.extents()));
}

DType RealPartOf(DType dtype) {
  if (dtype == DType::kC64) return DType::kF32;
  return dtype == DType::kC128 ? DType::kF64 : dtype;
}

DType ComplexOf(DType dtype) {
  if (dtype == DType::kF32) return DType::kC64;
  return dtype == DType::kF64 ? DType::kC128 : dtype;
}

TensorType WithLastDims(DType dtype, const Shape& like, std::initializer_list<Dim> last) {
  std::vector<Dim> dims(like.dims().begin(), like.dims().end() - 2);
  dims.insert(dims.end(), last.begin(), last.end());
  return {dtype, Shape(std::move(dims))};
}

absl::StatusOr<Tensor> NewMatrices(DType dtype, const Tensor& like,
                                   std::initializer_list<int64_t> last) {
  Extents extents(like.extents().begin(), like.extents().end() - 2);
  extents.insert(extents.end(), last.begin(), last.end());
  return Tensor::TryCreate(dtype, extents);
}

int64_t NumMatrices(const Tensor& tensor) {
  return NumElements(absl::MakeConstSpan(tensor.extents()).first(tensor.rank() - 2));
}

absl::Status StackMatrices(PforRewrite& rewrite) {
  return ReturnStacked(rewrite, rewrite.node().attrs);
}

void FixBlocking() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 4 << 20);
    return true;
  }();
  static_cast<void>(fixed);
}

std::vector<SampleOperand> MatrixSamples(Extent extent) {
  std::vector<SampleOperand> samples;
  for (DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128}) {
    samples.push_back(Rand(dtype, {4, 4}));
    if (extent == Extent::kAny) samples.push_back(Rand(dtype, {5, 3}));
    if (extent == Extent::kAny) samples.push_back(Rand(dtype, {3, 5}));
  }
  samples.push_back(Rand(DType::kF32, {2, 3, 3, 3}));
  samples.push_back(Rand(DType::kF64, {1, 1}));
  samples.push_back(Rand(DType::kF32, {0, 0}));
  samples.push_back(Rand(DType::kC64, {0, 2, 2}));
  samples.push_back(Rand(DType::kF64, {40, 40}));
  if (extent == Extent::kAny) {
    samples.push_back(Rand(DType::kF32, {3, 0}));
    samples.push_back(Rand(DType::kC128, {2, 0, 3}));
  }
  samples.push_back(Exactly(Tensor::Zeros(DType::kF32, {3, 3})));
  samples.push_back(Exactly(Tensor::Of<double>({2, 2}, {1, 2, 2, 4})));
  samples.push_back(Exactly(Tensor::Of<float>({2, 2, 2}, {NAN, 1, 2, 3, 4, INFINITY, 1, 0})));
  samples.push_back(Exactly(Tensor::Of<double>({2, 2}, {1e300, -1e300, 1e300, 1e-300})));
  return samples;
}

}  // namespace weir
