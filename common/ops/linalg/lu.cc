#include <numeric>

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
  return std::vector<TensorType>{a, WithLastDims(DType::kI32, a.shape, {Min(m, n)}),
                                 WithLastDims(DType::kI32, a.shape, {m})};
}

// The row of the largest magnitude at or below row k of column k; the first among equals.
template <class W>
int64_t PivotRow(const Matrix<W>& a, int64_t k) {
  int64_t best = k;
  for (int64_t i = k + 1; i < a.rows(); ++i) {
    if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
  }
  return best;
}

// In place. A column without a pivot is left as it is, as LAPACK's getrf does.
template <class W>
void Factor(Matrix<W>* a, int32_t* pivots, int32_t* permutation) {
  std::iota(permutation, permutation + a->rows(), 0);
  const int64_t steps = std::min(a->rows(), a->cols());
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t pivot = PivotRow(*a, k);
    pivots[k] = static_cast<int32_t>(pivot);
    if (pivot != k) {
      a->row(k).swap(a->row(pivot));
      std::swap(permutation[k], permutation[pivot]);
    }
    const int64_t below = a->rows() - k - 1;
    const int64_t right = a->cols() - k - 1;
    if ((*a)(k, k) == W(0) || below == 0) continue;
    a->col(k).tail(below) /= (*a)(k, k);
    a->bottomRightCorner(below, right) -= a->col(k).tail(below) * a->row(k).tail(right);
  }
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  const int64_t m = in.extent(in.rank() - 2);
  const int64_t steps = std::min(m, in.extent(in.rank() - 1));
  WEIR_ASSIGN_OR_RETURN(Tensor lu, Tensor::TryCreate(in.dtype(), in.extents()));
  WEIR_ASSIGN_OR_RETURN(Tensor pivots, NewMatrices(DType::kI32, in, {steps}));
  WEIR_ASSIGN_OR_RETURN(Tensor permutation, NewMatrices(DType::kI32, in, {m}));
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      Matrix<W> a = LoadMatrix<W>(in, i);
      Factor<W>(&a, pivots.mutable_data<int32_t>() + i * steps,
                permutation.mutable_data<int32_t>() + i * m);
      StoreMatrix<W>(a, i, &lu);
    }
  });
  return std::vector<Tensor>{std::move(lu), std::move(pivots), std::move(permutation)};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (SampleOperand& operand : MatrixSamples(Extent::kAny)) {
    samples.push_back({.operands = {std::move(operand)}});
  }
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef LuOp() {
  OpDef op;
  op.name = "lu";
  op.summary =
      "unit lower and upper triangle in one matrix, by partial pivoting; the i32 row swapped at "
      "each step; the i32 rows of the operand in the order of the factors (LAPACK getrf, jax.lax "
      "lu)";
  op.outputs = {3, 3};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
