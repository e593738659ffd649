// Linear algebra over Builder in the manner of lang.h: numpy.linalg as compositions of the ops that
// factor. Matrices are the last two axes, all others are batches. Stateless; thread-compatible like
// the builder.
//
//   ValueId x = Solve(b, a, rhs);
//   ValueId distance = VectorNorm(b, Binary(b, "subtract", x, y), {-1}, 2);
#ifndef WEIR_COMMON_OPS_LINALG_LANG_H_
#define WEIR_COMMON_OPS_LINALG_LANG_H_

#include "common/ops/lang.h"

namespace weir {

// [rows, columns] with ones on the diagonal.
ValueId Eye(Builder& b, DType dtype, Dim rows, Dim columns);
// The diagonals, [..., m] of square matrices [..., m, m].
ValueId Diagonal(Builder& b, ValueId x);
// Matrices transposed, and conjugated if complex.
ValueId Adjoint(Builder& b, ValueId x);

// x with a x = y, by LU with partial pivoting. y is [..., m, n], or a vector [m] if it has one
// axis; batches broadcast. What singular matrices give is infinite or NaN.
ValueId Solve(Builder& b, ValueId a, ValueId y);
ValueId Inverse(Builder& b, ValueId a);

ValueId Determinant(Builder& b, ValueId a);
struct SignAndLog {
  ValueId sign;  // of the type of a; 0 for a singular matrix
  ValueId log;   // of the absolute value; -inf for a singular matrix
};
SignAndLog SlogDet(Builder& b, ValueId a);

// The Moore-Penrose inverse; singular values at or below `cutoff` times the largest count as 0.
ValueId Pinv(Builder& b, ValueId a, double cutoff);
// A negative exponent inverts; exponent 0 is the identity.
ValueId MatrixPower(Builder& b, ValueId a, int64_t exponent);

// (sum of |x|^order)^(1/order) over the axes. Order inf and -inf are the largest and smallest
// magnitude, 0 counts what is not 0.
ValueId VectorNorm(Builder& b, ValueId x, Int64s axes, double order,
                   ReducedAxes then = ReducedAxes::kDrop);
enum class MatrixNormKind {
  kFrobenius,
  kNuclear,    // sum of the singular values
  kSpectral,   // the largest singular value
  kMaxColumn,  // the largest column sum of magnitudes
  kMaxRow,     // the largest row sum of magnitudes
};
ValueId MatrixNorm(Builder& b, ValueId x, MatrixNormKind kind);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_LANG_H_
