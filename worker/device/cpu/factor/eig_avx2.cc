#include "worker/device/cpu/factor/eigen_before.h"
#include "worker/device/cpu/factor/spectra.h"
// Changes what the compiler and Eigen take the machine for, so it stands behind the others.
#include "worker/device/cpu/factor/eigen_avx2.inc"
// Eigen.
#include <Eigen/Eigenvalues>

namespace weir::cpu::avx2 {

#include "worker/device/cpu/factor/spectra.inc"

namespace {

template <class W>
using GeneralSolver = std::conditional_t<std::is_same_v<W, double>, Eigen::EigenSolver<Matrix<W>>,
                                         Eigen::ComplexEigenSolver<Matrix<W>>>;

// The side of the matrix to factor in place of one of this side. The iterations walk along rows,
// and of large matrices whose columns are a multiple of 128 bytes apart these fall into few sets of
// the cache: such a matrix gets rows and columns of zeros, which stay apart from it in every step.
int64_t PaddedSide(int64_t n) { return n >= 128 && n % 16 == 0 ? n + 8 : n; }

// The numbers of the columns that belong to the matrix in its first n rows, by eigenvalue.
std::vector<int64_t> OrderOf(const Eigen::Matrix<C, Eigen::Dynamic, 1>& values,
                             const Matrix<C>& columns, int64_t n) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < columns.cols(); ++i) {
    // What belongs to the zeros is exactly their unit vectors.
    const bool is_padding = columns.rows() > n && (columns.col(i).head(n).array() == C(0)).all();
    if (!is_padding) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    const C x = values(i), y = values(j);
    return x.real() != y.real() ? x.real() < y.real() : x.imag() < y.imag();
  });
  return order;
}

}  // namespace

template <class W>
bool Eig(const Block<W>& block, const Block<C>& values, const Block<C>& vectors) {
  FixBlockingOnce();
  const int64_t n = block.rows, side = PaddedSide(n);
  Matrix<W> a = Matrix<W>::Zero(side, side);
  a.topLeftCorner(n, n) = MapOf(block);
  if (!a.allFinite()) return false;
  const GeneralSolver<W> solver(a);
  if (solver.info() != Eigen::Success) return false;
  const Eigen::Matrix<C, Eigen::Dynamic, 1> found = solver.eigenvalues();
  const Matrix<C> columns = solver.eigenvectors();
  const std::vector<int64_t> order = OrderOf(found, columns, n);
  if (static_cast<int64_t>(order.size()) != n) return false;
  for (int64_t i = 0; i < n; ++i) {
    const Eigen::Matrix<C, Eigen::Dynamic, 1> column =
        columns.col(order[i]).head(n).stableNormalized();
    values(i, 0) = found(order[i]);
    MapOf(vectors).col(i) = column * PhaseOf<C>(column);
  }
  return true;
}

template bool Eig(const Block<double>&, const Block<C>&, const Block<C>&);
template bool Eig(const Block<C>&, const Block<C>&, const Block<C>&);

}  // namespace weir::cpu::avx2
