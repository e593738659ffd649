#include <cmath>
#include <numeric>

#include "common/base/status.h"
#include "common/ops/linalg/basis.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/plane.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckMatrices(context, 0));
  const TensorType& a = context.input(0);
  const Dim& m = a.shape[a.rank() - 2];
  const Dim& n = a.shape[a.rank() - 1];
  const Dim k = Min(m, n);
  const bool full = context.attr("full_matrices").AsBool();
  std::vector<TensorType> results = {WithLastDims(RealPartOf(a.dtype), a.shape, {k})};
  if (context.attr("compute_uv").AsBool()) {
    results.push_back(WithLastDims(a.dtype, a.shape, {m, full ? m : k}));
    results.push_back(WithLastDims(a.dtype, a.shape, {full ? n : k, n}));
  }
  return results;
}

template <class W>
struct Factors {
  Matrix<double> s;
  Matrix<W> u;
  Matrix<W> vh;
};

// Hestenes' method: turns pairs of columns of `a`, which has no more columns than rows, until all
// are orthogonal, and those of `v` with them. Returns: whether that came to an end.
template <class W>
bool MakeOrthogonal(Matrix<W>* a, Matrix<W>* v) {
  // Rounding leaves about this much of a product. Below the limit squares of lengths would vanish
  // beside entries of size 1.
  const double relative = std::numeric_limits<double>::epsilon() * static_cast<double>(a->rows());
  constexpr double kLimit = 1e-150;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < a->cols(); ++p) {
      for (int64_t q = p + 1; q < a->cols(); ++q) {
        const double x = SquaresOf(*a, p), y = SquaresOf(*a, q);
        const W product = ProductOf(*a, p, q);
        const double small = std::max(relative * std::sqrt(x) * std::sqrt(y), kLimit);
        if (!(std::abs(product) > small)) continue;
        const JacobiRotation<W> turn(x, y, product);
        turn.OfColumns(a, p, q);
        turn.OfColumns(v, p, q);
        turned = true;
      }
    }
    if (!turned) return true;
  }
  return false;
}

// The phase of a pair of singular vectors follows the left one; vectors without a partner have
// their own.
template <class W>
void FixPhases(Matrix<W>* u, Matrix<W>* v) {
  for (int64_t i = 0; i < std::max(u->cols(), v->cols()); ++i) {
    const W phase = i < u->cols() ? PhaseOf(u->col(i)) : PhaseOf(v->col(i));
    if (i < u->cols()) u->col(i) *= phase;
    if (i < v->cols()) v->col(i) *= phase;
  }
}

// Of a matrix with no more columns than rows. `u` and `v` have the sizes that are wanted.
template <class W>
bool FactorTall(Matrix<W> a, Matrix<double>* s, Matrix<W>* u, Matrix<W>* v) {
  const double scale = ScaleOf(a);
  a = a / scale;  // real, as a quotient of complex numbers overflows
  Matrix<W> turned = Matrix<W>::Identity(a.cols(), a.cols());
  if (!MakeOrthogonal(&a, &turned)) return false;
  std::vector<double> lengths(a.cols());
  for (int64_t i = 0; i < a.cols(); ++i) lengths[i] = std::sqrt(SquaresOf(a, i));
  std::vector<int64_t> order(a.cols());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return lengths[i] > lengths[j]; });
  for (int64_t i = 0; i < a.cols(); ++i) (*s)(i, 0) = lengths[order[i]];
  const int64_t rank = RankOf(s->data(), a.rows(), a.cols());
  for (int64_t i = 0; i < std::min(rank, u->cols()); ++i) {
    u->col(i) = a.col(order[i]) / lengths[order[i]];
    v->col(i) = turned.col(order[i]);
  }
  *s *= scale;
  if (u->cols() == 0) return true;
  CompleteBasis(u->data(), u->rows(), rank, u->cols());
  CompleteBasis(v->data(), v->rows(), rank, v->cols());
  return true;
}

// Sizes of the results are set before, those of vectors to 0 if none are wanted; what they hold
// without singular values, or if the matrix is not finite, too.
template <class W>
void Factor(const Matrix<W>& a, Factors<W>* out) {
  if (a.size() == 0) {
    out->u.setIdentity();
    out->vh.setIdentity();
    return;
  }
  Matrix<W> u(a.rows(), out->u.cols()), v(a.cols(), out->vh.rows());
  const bool found =
      AllFinite(a) && (a.rows() < a.cols() ? FactorTall<W>(a.adjoint(), &out->s, &v, &u)
                                           : FactorTall<W>(a, &out->s, &u, &v));
  if (!found) {
    out->s = NotANumber<double>(out->s.rows(), 1);
    out->u = NotANumber<W>(out->u.rows(), out->u.cols());
    out->vh = NotANumber<W>(out->vh.rows(), out->vh.cols());
    return;
  }
  FixPhases<W>(&u, &v);
  out->u = u;
  out->vh = v.adjoint();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  const int64_t m = in.extent(in.rank() - 2);
  const int64_t n = in.extent(in.rank() - 1);
  const int64_t k = std::min(m, n);
  const bool compute_uv = context.attr("compute_uv").AsBool();
  const bool full = context.attr("full_matrices").AsBool();
  const int64_t left = !compute_uv ? 0 : (full ? m : k);
  const int64_t right = !compute_uv ? 0 : (full ? n : k);
  WEIR_ASSIGN_OR_RETURN(Tensor s, NewMatrices(RealPartOf(in.dtype()), in, {k}));
  std::vector<Tensor> results = {std::move(s)};
  if (compute_uv) {
    WEIR_ASSIGN_OR_RETURN(Tensor u, NewMatrices(in.dtype(), in, {m, left}));
    WEIR_ASSIGN_OR_RETURN(Tensor vh, NewMatrices(in.dtype(), in, {right, n}));
    results.push_back(std::move(u));
    results.push_back(std::move(vh));
  }
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    Factors<W> factors{Matrix<double>(k, 1), Matrix<W>(m, left), Matrix<W>(right, n)};
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      Factor<W>(LoadMatrix<W>(in, i), &factors);
      StoreMatrix<double>(factors.s, i, &results[0]);
      if (!compute_uv) continue;
      StoreMatrix<W>(factors.u, i, &results[1]);
      StoreMatrix<W>(factors.vh, i, &results[2]);
    }
  });
  return results;
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (const SampleOperand& operand : MatrixSamples(Extent::kAny)) {
    for (bool full : {false, true}) {
      samples.push_back(
          {.operands = {operand}, .attrs = {{"full_matrices", full}, {"compute_uv", true}}});
    }
    samples.push_back({.label = "values",
                       .operands = {operand},
                       .attrs = {{"full_matrices", false}, {"compute_uv", false}}});
  }
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef SvdOp() {
  OpDef op;
  op.name = "svd";
  op.summary =
      "descending singular values s and, with compute_uv, u and vh with u diag(s) vh = operand; "
      "the largest entry of each column of u is real and positive; columns for singular values "
      "that "
      "are 0 within rounding, and beyond, are reflections that complete the others; NaN if the "
      "matrix is not finite (jax.lax.linalg.svd)";
  op.outputs = {1, 3};
  op.attrs = {{"full_matrices", Attr::Kind::kBool}, {"compute_uv", Attr::Kind::kBool}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
