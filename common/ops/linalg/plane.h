// What Jacobi's methods are made of: turns in the plane of two axes that make an entry zero. Plain
// loops, as an oracle should be. Pure functions; usable from any thread. Only op files include
// this.
#ifndef WEIR_COMMON_OPS_LINALG_PLANE_H_
#define WEIR_COMMON_OPS_LINALG_PLANE_H_

#include <cmath>
#include <complex>

#include "common/ops/linalg/matrix.h"

namespace weir {

// Their convergence is quadratic; ten are a lot.
inline constexpr int kMostSweeps = 60;

// Returns: the sum of the squared magnitudes of column p.
template <class W>
double SquaresOf(const Matrix<W>& a, int64_t p) {
  double sum = 0;
  for (int64_t i = 0; i < a.rows(); ++i) sum += std::norm(a(i, p));
  return sum;
}

// Returns: column p, conjugated, times column q.
template <class W>
W ProductOf(const Matrix<W>& a, int64_t p, int64_t q) {
  W sum(0);
  for (int64_t i = 0; i < a.rows(); ++i) {
    sum += WideProduct(W(Eigen::numext::conj(a(i, p))), a(i, q));
  }
  return sum;
}

// The unitary matrix J, different from the identity in two rows and columns, for which J^H H J is
// diagonal, where H is hermitian with the diagonal x, y and `beside` in its upper corner.
// REQUIRES: beside != 0.
template <class W>
class JacobiRotation {
 public:
  JacobiRotation(double x, double y, W beside) {
    const double magnitude = std::abs(beside);
    const double ratio = (y - x) / (2 * magnitude);
    const double tangent = std::copysign(1 / (std::abs(ratio) + std::hypot(1.0, ratio)), ratio);
    cosine_ = 1 / std::hypot(1.0, tangent);
    sine_ = tangent * cosine_;
    phase_ = beside / magnitude;
  }

  // a becomes a J.
  void OfColumns(Matrix<W>* a, int64_t p, int64_t q) const {
    const W back = Eigen::numext::conj(phase_);
    for (int64_t i = 0; i < a->rows(); ++i) Apply(back, &(*a)(i, p), &(*a)(i, q));
  }
  // a becomes J^H a.
  void OfRows(Matrix<W>* a, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < a->cols(); ++j) Apply(phase_, &(*a)(p, j), &(*a)(q, j));
  }

 private:
  void Apply(W phase, W* first, W* second) const {
    const W x = *first, y = WideProduct(*second, phase);
    *first = x * cosine_ - y * sine_;
    *second = x * sine_ + y * cosine_;
  }

  double cosine_, sine_;
  W phase_;
};

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_PLANE_H_
