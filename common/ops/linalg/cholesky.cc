#include <Eigen/Cholesky>

#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckSquareMatrices(context, 0));
  return std::vector<TensorType>{context.input(0)};
}

template <class W>
Matrix<W> Factor(const Matrix<W>& a) {
  Eigen::LLT<Matrix<W>> llt;
  if (a.rows() > 0) llt.compute(a);
  Matrix<W> l = Matrix<W>::Zero(a.rows(), a.cols());
  if (a.rows() == 0) return l;
  const bool positive =
      llt.info() == Eigen::Success && (llt.matrixLLT().diagonal().real().array() > 0).all();
  const Matrix<W> factor = positive ? llt.matrixLLT() : NotANumber<W>(a.rows(), a.cols());
  l.template triangularView<Eigen::Lower>() = factor;
  return l;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor in = context.input(0).Contiguous();
  WEIR_RETURN_IF_ERROR(CheckSquareExtents(in));
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(in.dtype(), in.extents()));
  const bool lower = context.attr("lower").AsBool();
  VisitWide(in.dtype(), [&]<class W>(TypeTag<W>) {
    for (int64_t i = 0; i < NumMatrices(in); ++i) {
      const Matrix<W> a = LoadMatrix<W>(in, i);
      const Matrix<W> l = Factor<W>(lower ? a : Matrix<W>(a.adjoint()));
      StoreMatrix<W>(lower ? l : Matrix<W>(l.adjoint()), i, &out);
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand operand, bool lower = true) {
    samples.push_back(
        {.label = std::move(label), .operands = {std::move(operand)}, .attrs = {{"lower", lower}}});
  };
  for (SampleOperand& operand : MatrixSamples(Extent::kSquare)) add("any", std::move(operand));
  const SampleOperand positive = Exactly(Tensor::Of<float>({2, 2, 2}, {4, 2, 2, 5, 9, -3, -3, 10}));
  const SampleOperand hermitian =
      Exactly(Tensor::Of<std::complex<double>>({2, 2}, {4, {2, -2}, {2, 2}, 6}));
  for (bool lower : {true, false}) {
    add("positive", positive, lower);
    add("hermitian", hermitian, lower);
    add("not positive", Exactly(Tensor::Of<double>({2, 2}, {1, 2, 2, 1})), lower);
  }
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef CholeskyOp() {
  OpDef op;
  op.name = "cholesky";
  op.summary =
      "triangle l with l l^H (or u with u^H u) equal to the positive definite matrices of one "
      "triangle of the operand; NaN where not positive, 0 beyond the triangle (StableHLO cholesky)";
  op.attrs = {{"lower", Attr::Kind::kBool}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
