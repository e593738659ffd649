#include <Eigen/Eigenvalues>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckSquareMatrices(context, 0));
  const TensorType& a = context.input(0);
  return std::vector<TensorType>{
      WithLastDims(RealPartOf(a.dtype), a.shape, {a.shape[a.rank() - 1]}), a};
}

template <class W>
void Factor(const Matrix<W>& a, Matrix<double>* values, Matrix<W>* vectors) {
  const int64_t n = a.rows();
  *values = NotANumber<double>(n, 1);
  *vectors = NotANumber<W>(n, n);
  const Matrix<W> lower = a.template triangularView<Eigen::Lower>();
  if (n == 0 || !lower.allFinite()) return;
  const Eigen::SelfAdjointEigenSolver<Matrix<W>> solver(lower);
  if (solver.info() != Eigen::Success) return;
  *values = solver.eigenvalues();
  *vectors = solver.eigenvectors();
  for (int64_t i = 0; i < n; ++i) vectors->col(i) *= PhaseOf(vectors->col(i));
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  WEIR_RETURN_IF_ERROR(CheckSquareExtents(in));
  WEIR_ASSIGN_OR_RETURN(Tensor values,
                        NewMatrices(RealPartOf(in.dtype()), in, {in.extent(in.rank() - 1)}));
  WEIR_ASSIGN_OR_RETURN(Tensor vectors, Tensor::TryCreate(in.dtype(), in.extents()));
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    Matrix<double> w;
    Matrix<W> v;
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      Factor<W>(LoadMatrix<W>(in, i), &w, &v);
      StoreMatrix<double>(w, i, &values);
      StoreMatrix<W>(v, i, &vectors);
    }
  });
  return std::vector<Tensor>{std::move(values), std::move(vectors)};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (SampleOperand& operand : MatrixSamples(Extent::kSquare)) {
    samples.push_back({.operands = {std::move(operand)}});
  }
  samples.push_back(
      {.label = "repeated eigenvalue",
       .operands = {Exactly(Tensor::Of<float>({3, 3}, {2, 0, 0, 0, 2, 0, 0, 0, 2}))}});
  return samples;
}

}  // namespace

OpDef EighOp() {
  OpDef op;
  op.name = "eigh";
  op.summary =
      "ascending eigenvalues, then eigenvectors as columns whose largest entry is real and "
      "positive, of the hermitian matrices whose lower triangle the operand holds; NaN if that is "
      "not finite (numpy.linalg.eigh)";
  op.outputs = {2, 2};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
