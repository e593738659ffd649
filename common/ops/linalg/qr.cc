#include <Eigen/QR>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckMatrices(context, 0));
  const TensorType& a = context.input(0);
  const Dim& m = a.shape[a.rank() - 2];
  const Dim& n = a.shape[a.rank() - 1];
  const Dim k = context.attr("full_matrices").AsBool() ? m : Min(m, n);
  return std::vector<TensorType>{WithLastDims(a.dtype, a.shape, {m, k}),
                                 WithLastDims(a.dtype, a.shape, {k, n})};
}

// Turns the diagonal of r real and not negative, which makes the factors unique where the columns
// are independent.
template <class W>
void FixPhases(Matrix<W>* q, Matrix<W>* r) {
  for (int64_t i = 0; i < std::min(r->rows(), r->cols()); ++i) {
    const double magnitude = std::abs((*r)(i, i));
    if (!(magnitude > 0)) continue;
    const W phase = (*r)(i, i) / magnitude;
    q->col(i) *= phase;
    r->row(i) *= Eigen::numext::conj(phase);
    (*r)(i, i) = magnitude;
  }
}

template <class W>
void Factor(const Matrix<W>& a, int64_t k, Matrix<W>* q, Matrix<W>* r) {
  *q = Matrix<W>::Identity(a.rows(), k);
  *r = Matrix<W>::Zero(k, a.cols());
  if (a.size() == 0) return;
  const double scale = ScaleOf<W>(a);
  const Eigen::HouseholderQR<Matrix<W>> qr(a / scale);
  *q = qr.householderQ() * *q;
  r->template triangularView<Eigen::Upper>() = qr.matrixQR().topRows(k) * scale;
  FixPhases<W>(q, r);
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  const int64_t m = in.extent(in.rank() - 2);
  const int64_t n = in.extent(in.rank() - 1);
  const int64_t k = context.attr("full_matrices").AsBool() ? m : std::min(m, n);
  WEIR_ASSIGN_OR_RETURN(Tensor q, NewMatrices(in.dtype(), in, {m, k}));
  WEIR_ASSIGN_OR_RETURN(Tensor r, NewMatrices(in.dtype(), in, {k, n}));
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    Matrix<W> left, right;
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      Factor<W>(LoadMatrix<W>(in, i), k, &left, &right);
      StoreMatrix<W>(left, i, &q);
      StoreMatrix<W>(right, i, &r);
    }
  });
  return std::vector<Tensor>{std::move(q), std::move(r)};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (const SampleOperand& operand : MatrixSamples(Extent::kAny)) {
    for (bool full : {false, true}) {
      samples.push_back({.operands = {operand}, .attrs = {{"full_matrices", full}}});
    }
  }
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef QrOp() {
  OpDef op;
  op.name = "qr";
  op.summary =
      "q with orthonormal columns and upper triangle r, q r = operand; the diagonal of r is real "
      "and not negative (numpy.linalg.qr)";
  op.outputs = {2, 2};
  op.attrs = {{"full_matrices", Attr::Kind::kBool}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
