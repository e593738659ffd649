#include <numeric>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/plane.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckSquareMatrices(context, 0));
  const TensorType& a = context.input(0);
  return std::vector<TensorType>{
      WithLastDims(RealPartOf(a.dtype), a.shape, {a.shape[a.rank() - 1]}), a};
}

// The hermitian matrix whose lower triangle is that of `a`.
template <class W>
Matrix<W> FromLower(const Matrix<W>& a) {
  Matrix<W> out(a.rows(), a.cols());
  for (int64_t j = 0; j < a.cols(); ++j) {
    out(j, j) = std::real(a(j, j));
    for (int64_t i = j + 1; i < a.rows(); ++i) {
      out(i, j) = a(i, j);
      out(j, i) = Eigen::numext::conj(a(i, j));
    }
  }
  return out;
}

// Jacobi's method: turns pairs of rows and columns of `a` until what is beside the diagonal is too
// small to count, and pairs of columns of `v` with them. Returns: whether that came to an end.
template <class W>
bool MakeDiagonal(Matrix<W>* a, Matrix<W>* v) {
  double squares = 0;
  for (int64_t j = 0; j < a->cols(); ++j) squares += SquaresOf(*a, j);
  const double small = 1e-17 * std::sqrt(squares);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < a->cols(); ++p) {
      for (int64_t q = p + 1; q < a->cols(); ++q) {
        const W beside = (*a)(p, q);
        if (!(std::abs(beside) > small)) continue;
        const JacobiRotation<W> turn(std::real((*a)(p, p)), std::real((*a)(q, q)), beside);
        turn.OfColumns(a, p, q);
        turn.OfRows(a, p, q);
        (*a)(p, q) = (*a)(q, p) = 0;
        turn.OfColumns(v, p, q);
        turned = true;
      }
    }
    if (!turned) return true;
  }
  return false;
}

template <class W>
void Factor(const Matrix<W>& in, Matrix<double>* values, Matrix<W>* vectors) {
  const int64_t n = in.rows();
  *values = NotANumber<double>(n, 1);
  *vectors = NotANumber<W>(n, n);
  Matrix<W> a = in.template triangularView<Eigen::Lower>();
  if (n == 0 || !AllFinite(a)) return;
  a = FromLower(a);
  const double scale = ScaleOf(a);
  a = a / scale;  // real, as a quotient of complex numbers overflows
  Matrix<W> v = Matrix<W>::Identity(n, n);
  if (!MakeDiagonal(&a, &v)) return;
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return std::real(a(i, i)) < std::real(a(j, j)); });
  for (int64_t i = 0; i < n; ++i) {
    (*values)(i, 0) = std::real(a(order[i], order[i])) * scale;
    vectors->col(i) = v.col(order[i]) * PhaseOf(v.col(order[i]));
  }
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
  return WithinRounding(std::move(samples));
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
