// What factorizations share: checks of [..., m, n] operands, matrices in and out of tensors, and
// the choice of phase that makes vectors unique. Stateless; usable from any thread. Only op files
// include this.
//
// Every matrix is factored by itself in double precision, whatever its element type and the number
// of matrices beside it, so a result is a pure function of its matrix.
#ifndef WEIR_COMMON_OPS_LINALG_MATRIX_H_
#define WEIR_COMMON_OPS_LINALG_MATRIX_H_

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <limits>
#include <vector>

#include "common/ops/axes.h"
#include "common/ops/linalg/accumulate.h"

namespace weir {

template <class W>
using Matrix = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
template <class W>
using Vector = Eigen::Matrix<W, Eigen::Dynamic, 1>;

// Operand i is [..., m, n] of f32, f64, c64 or c128.
absl::Status CheckMatrices(const InferContext& context, int i);
// The same with m = n.
absl::Status CheckSquareMatrices(const InferContext& context, int i);
// What types with unknown dimensions leave open.
absl::Status CheckSquareExtents(const Tensor& tensor);

// The type of an absolute value: f32 for c64.
DType RealPartOf(DType dtype);
// The type of an eigenvalue: c64 for f32.
DType ComplexOf(DType dtype);

// `type` with other extents in place of the last two.
TensorType WithLastDims(DType dtype, const Shape& like, std::initializer_list<Dim> last);
absl::StatusOr<Tensor> NewMatrices(DType dtype, const Tensor& like,
                                   std::initializer_list<int64_t> last);
int64_t NumMatrices(const Tensor& tensor);

// The rule of every op whose operands have leading batch axes.
absl::Status StackMatrices(PforRewrite& rewrite);

// Makes the blocking of Eigen's products the same on every machine.
void FixBlocking();

// Calls visitor(TypeTag<W>{}) for the type in which elements of `dtype` are computed.
template <class Visitor>
void VisitWide(DType dtype, Visitor&& visitor) {
  FixBlocking();
  if (IsComplex(dtype)) {
    visitor(TypeTag<std::complex<double>>{});
  } else {
    visitor(TypeTag<double>{});
  }
}

// REQUIRES: `dense` is row-major and its elements are computed in W.
template <class W>
Matrix<W> LoadMatrix(const Tensor& dense, int64_t index) {
  const int64_t rows = dense.extent(dense.rank() - 2);
  const int64_t columns = dense.extent(dense.rank() - 1);
  Matrix<W> out(rows, columns);
  VisitDType(dense.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<Wide<T>, W>) {
      const T* in = dense.data<T>() + index * rows * columns;
      for (int64_t i = 0; i < rows * columns; ++i) out(i / columns, i % columns) = ToWide(in[i]);
    }
  });
  return out;
}

// Writes the matrix (a column vector counts as one) where matrix `index` of `out` is.
template <class W>
void StoreMatrix(const Matrix<W>& matrix, int64_t index, Tensor* out) {
  VisitDType(out->dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<Wide<T>, W>) {
      T* to = out->mutable_data<T>() + index * matrix.size();
      for (int64_t i = 0; i < matrix.size(); ++i) {
        to[i] = FromWide<T>(matrix(i / matrix.cols(), i % matrix.cols()));
      }
    }
  });
}

template <class W>
bool AllFinite(const Matrix<W>& a) {
  return std::all_of(a.data(), a.data() + a.size(), [](const W& x) {
    return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
  });
}

// A power of two near the largest magnitude, so that no sum of squares over- or underflows.
template <class W>
double ScaleOf(const Matrix<W>& a) {
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a.data()[i]));
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, std::max(std::ilogb(largest), -1000));
}

template <class W>
Matrix<W> NotANumber(int64_t rows, int64_t columns) {
  return Matrix<W>::Constant(rows, columns, W(std::numeric_limits<double>::quiet_NaN()));
}

// Returns: the number of magnitude 1 that makes the first of the largest entries real and positive
// when multiplied with it. Entries within a thousandth of each other count as equal, so that
// rounding does not choose.
template <class Column>
typename Column::Scalar PhaseOf(const Column& column) {
  using W = typename Column::Scalar;
  double largest = 0;
  for (int64_t i = 0; i < column.size(); ++i) largest = std::max(largest, std::abs(column(i)));
  for (int64_t i = 0; i < column.size(); ++i) {
    const double magnitude = std::abs(column(i));
    if (magnitude > 0 && magnitude >= 0.999 * largest) {
      return Eigen::numext::conj(W(column(i))) / magnitude;
    }
  }
  return W(1);
}

// Random matrices of the types, batches and extents that every factorization should meet, and
// hostile ones; kSquare leaves out those with m != n.
enum class Extent { kSquare, kAny };
std::vector<SampleOperand> MatrixSamples(Extent extent);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_MATRIX_H_
