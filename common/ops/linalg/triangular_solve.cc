#include "common/base/status.h"
#include "common/ops/linalg/matrix.h"
#include "common/ops/linalg/rounding.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_RETURN_IF_ERROR(CheckSquareMatrices(context, 0));
  WEIR_RETURN_IF_ERROR(CheckMatrices(context, 1));
  const TensorType& a = context.input(0);
  const TensorType& b = context.input(1);
  const std::string& form = context.attr("transpose_a").AsString();
  if (form != "NO_TRANSPOSE" && form != "TRANSPOSE" && form != "ADJOINT") {
    return InvalidArgument("transpose_a \"", form,
                           "\" is none of NO_TRANSPOSE, TRANSPOSE, ADJOINT");
  }
  if (a.dtype != b.dtype || a.rank() != b.rank()) {
    return InvalidArgument("operands must agree in type and number of axes, found ",
                           OperandText(context, 0), " and ", OperandText(context, 1));
  }
  const int side = context.attr("left_side").AsBool() ? b.rank() - 2 : b.rank() - 1;
  bool fits = !MustDiffer(a.shape[a.rank() - 1], b.shape[side]);
  for (int axis = 0; axis < a.rank() - 2; ++axis) {
    fits = fits && !MustDiffer(a.shape[axis], b.shape[axis]);
  }
  if (!fits) {
    return InvalidArgument(OperandText(context, 0), " and ", OperandText(context, 1),
                           " do not fit together");
  }
  return std::vector<TensorType>{b};
}

absl::Status CheckExtents(const Tensor& a, const Tensor& b, bool left_side) {
  WEIR_RETURN_IF_ERROR(CheckSquareExtents(a));
  const auto batch = [](const Tensor& t) {
    return absl::MakeConstSpan(t.extents()).first(t.rank() - 2);
  };
  const int side = left_side ? b.rank() - 2 : b.rank() - 1;
  if (a.extent(a.rank() - 1) == b.extent(side) && batch(a) == batch(b)) return absl::OkStatus();
  return InvalidArgument("matrices ", ExtentsToString(a.extents()), " and right-hand sides ",
                         ExtentsToString(b.extents()), " do not fit together");
}

enum class Triangle { kLower, kUpper };
enum class Diagonal { kStored, kOnes };

// Row by row, without a special case for zeros: x / 0 is infinite or NaN.
template <class W>
void Substitute(const Matrix<W>& a, Triangle triangle, Diagonal diagonal, Matrix<W>* x) {
  const int64_t m = a.rows();
  for (int64_t step = 0; step < m; ++step) {
    const int64_t row = triangle == Triangle::kLower ? step : m - 1 - step;
    const int64_t first = triangle == Triangle::kLower ? 0 : row + 1;
    if (step > 0) {
      x->row(row) -= a.row(row).segment(first, step).lazyProduct(x->middleRows(first, step));
    }
    if (diagonal == Diagonal::kStored) x->row(row) /= a(row, row);
  }
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor a = context.input(0).Contiguous();
  const Tensor b = context.input(1).Contiguous();
  const bool left_side = context.attr("left_side").AsBool();
  WEIR_RETURN_IF_ERROR(CheckExtents(a, b, left_side));
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(b.dtype(), b.extents()));
  const std::string& form = context.attr("transpose_a").AsString();
  // x op(a) = b is op(a)^T x^T = b^T.
  const bool transposed = (form != "NO_TRANSPOSE") == left_side;
  const bool lower = context.attr("lower").AsBool() != transposed;
  const Triangle triangle = lower ? Triangle::kLower : Triangle::kUpper;
  const Diagonal diagonal =
      context.attr("unit_diagonal").AsBool() ? Diagonal::kOnes : Diagonal::kStored;
  VisitWide(a.dtype(), [&]<class W>(TypeTag<W>) {
    for (int64_t i = 0; i < NumMatrices(a); ++i) {
      Matrix<W> factor = LoadMatrix<W>(a, i);
      if (transposed) factor.transposeInPlace();
      if (form == "ADJOINT") factor = factor.conjugate().eval();
      Matrix<W> x = LoadMatrix<W>(b, i);
      if (!left_side) x.transposeInPlace();
      Substitute<W>(factor, triangle, diagonal, &x);
      if (!left_side) x.transposeInPlace();
      StoreMatrix<W>(x, i, &out);
    }
  });
  return std::vector<Tensor>{std::move(out)};
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](std::string label, SampleOperand a, SampleOperand b, Attrs attrs = {}) {
    attrs.try_emplace("left_side", true);
    attrs.try_emplace("lower", true);
    attrs.try_emplace("unit_diagonal", false);
    attrs.try_emplace("transpose_a", "NO_TRANSPOSE");
    samples.push_back(
        {.label = std::move(label), .operands = {std::move(a), std::move(b)}, .attrs = attrs});
  };
  for (const char* form : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
    for (bool lower : {true, false}) {
      for (bool unit : {true, false}) {
        const Attrs attrs = {{"lower", lower}, {"unit_diagonal", unit}, {"transpose_a", form}};
        add("left", Rand(DType::kC128, {3, 3}, 1, 2), Rand(DType::kC128, {3, 2}), attrs);
        add("right", Rand(DType::kF32, {2, 3, 3}, 1, 2), Rand(DType::kF32, {2, 4, 3}),
            With(attrs, "left_side", false));
      }
    }
  }
  add("f64", Rand(DType::kF64, {4, 4}, 1, 2), Rand(DType::kF64, {4, 1}));
  add("c64", Rand(DType::kC64, {1, 1}, 1, 2), Rand(DType::kC64, {1, 3}));
  add("no right-hand side", Rand(DType::kF32, {3, 3}), Rand(DType::kF32, {3, 0}));
  add("nothing", Rand(DType::kF32, {0, 0}), Rand(DType::kF32, {0, 2}));
  add("no matrix", Rand(DType::kF64, {0, 2, 2}), Rand(DType::kF64, {0, 2, 1}));
  add("singular", Exactly(Tensor::Of<float>({2, 2}, {0, 0, 1, 0})),
      Exactly(Tensor::Of<float>({2, 2}, {0, 1, 1, NAN})));
  return WithinRounding(std::move(samples));
}

}  // namespace

OpDef TriangularSolveOp() {
  OpDef op;
  op.name = "triangular_solve";
  op.summary =
      "x with op(a) x = b, or x op(a) = b, for the triangle of a; a zero on the diagonal divides "
      "(StableHLO triangular_solve)";
  op.inputs = {2, 2};
  op.attrs = {{"left_side", Attr::Kind::kBool},
              {"lower", Attr::Kind::kBool},
              {"unit_diagonal", Attr::Kind::kBool},
              {"transpose_a", Attr::Kind::kString}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackMatrices;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
