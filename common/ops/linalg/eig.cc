#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

using Complex = std::complex<double>;

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckSquareMatrices(context, 0));
  const TensorType& a = context.input(0);
  const DType dtype = ComplexOf(a.dtype);
  return std::vector<TensorType>{WithLastDims(dtype, a.shape, {a.shape[a.rank() - 1]}),
                                 {dtype, a.shape}};
}

// Columns in the order of the eigenvalues, by real part and then imaginary part.
std::vector<int64_t> OrderOf(const Vector<Complex>& values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    const Complex a = values(i), b = values(j);
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
  });
  return order;
}

template <class W>
using Solver = std::conditional_t<std::is_same_v<W, double>, Eigen::EigenSolver<Matrix<double>>,
                                  Eigen::ComplexEigenSolver<Matrix<Complex>>>;

template <class W>
void Factor(const Matrix<W>& a, Matrix<Complex>* values, Matrix<Complex>* vectors) {
  const int64_t n = a.rows();
  *values = NotANumber<Complex>(n, 1);
  *vectors = NotANumber<Complex>(n, n);
  if (n == 0 || !a.allFinite()) return;
  const Solver<W> solver(a);
  if (solver.info() != Eigen::Success) return;
  const Vector<Complex> found = solver.eigenvalues();
  const Matrix<Complex> columns = solver.eigenvectors();
  const std::vector<int64_t> order = OrderOf(found);
  for (int64_t i = 0; i < n; ++i) {
    const Vector<Complex> column = columns.col(order[i]).stableNormalized();
    (*values)(i, 0) = found(order[i]);
    vectors->col(i) = column * PhaseOf(column);
  }
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  WEIR_RETURN_IF_ERROR(CheckSquareExtents(in));
  const DType dtype = ComplexOf(in.dtype());
  WEIR_ASSIGN_OR_RETURN(Tensor values, NewMatrices(dtype, in, {in.extent(in.rank() - 1)}));
  WEIR_ASSIGN_OR_RETURN(Tensor vectors, Tensor::TryCreate(dtype, in.extents()));
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    Matrix<Complex> w, v;
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      Factor<W>(LoadMatrix<W>(in, i), &w, &v);
      StoreMatrix<Complex>(w, i, &values);
      StoreMatrix<Complex>(v, i, &vectors);
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
      {.label = "defective",
       .operands = {Exactly(Tensor::Of<float>({3, 3}, {2, 1, 0, 0, 2, 1, 0, 0, 2}))}});
  samples.push_back(
      {.label = "rotation", .operands = {Exactly(Tensor::Of<double>({2, 2}, {0, -1, 1, 0}))}});
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef EigOp() {
  OpDef op;
  op.name = "eig";
  op.summary =
      "complex eigenvalues by real and then imaginary part, and eigenvectors as columns of length "
      "1 whose largest entry is real and positive; NaN if the matrix is not finite "
      "(numpy.linalg.eig)";
  op.outputs = {2, 2};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
