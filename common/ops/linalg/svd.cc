#include <Eigen/SVD>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"

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

// Sizes of the results are set before; what they hold without singular values, or if the matrix is
// not finite, too.
template <class W>
void Factor(const Matrix<W>& a, bool compute_uv, Factors<W>* out) {
  const int64_t columns = out->vh.rows();
  if (a.size() == 0) {
    out->u.setIdentity();
    out->vh.setIdentity();
    return;
  }
  out->s = NotANumber<double>(out->s.rows(), 1);
  out->u = NotANumber<W>(out->u.rows(), out->u.cols());
  out->vh = NotANumber<W>(columns, out->vh.cols());
  if (!a.allFinite()) return;
  unsigned options = 0;
  if (compute_uv) {
    options |= out->u.cols() == a.rows() ? Eigen::ComputeFullU : Eigen::ComputeThinU;
    options |= columns == a.cols() ? Eigen::ComputeFullV : Eigen::ComputeThinV;
  }
  const Eigen::BDCSVD<Matrix<W>> svd(a, options);
  if (svd.info() != Eigen::Success) return;
  out->s = svd.singularValues();
  if (!compute_uv) return;
  out->u = svd.matrixU();
  Matrix<W> v = svd.matrixV();
  FixPhases<W>(&out->u, &v);
  out->vh = v.adjoint();
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  const int64_t m = in.extent(in.rank() - 2);
  const int64_t n = in.extent(in.rank() - 1);
  const int64_t k = std::min(m, n);
  const bool compute_uv = context.attr("compute_uv").AsBool();
  const bool full = context.attr("full_matrices").AsBool();
  const int64_t left = full ? m : k;
  const int64_t right = full ? n : k;
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
      Factor<W>(LoadMatrix<W>(in, i), compute_uv, &factors);
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
  return samples;
}

}  // namespace

OpDef SvdOp() {
  OpDef op;
  op.name = "svd";
  op.summary =
      "descending singular values s and, with compute_uv, u and vh with u diag(s) vh = operand; "
      "the largest entry of each column of u is real and positive; NaN if the matrix is not finite "
      "(jax.lax.linalg.svd)";
  op.outputs = {1, 3};
  op.attrs = {{"full_matrices", Attr::Kind::kBool}, {"compute_uv", Attr::Kind::kBool}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
