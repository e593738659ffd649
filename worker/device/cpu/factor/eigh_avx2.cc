#include "worker/device/cpu/factor/eigen_before.h"
#include "worker/device/cpu/factor/spectra.h"
// Changes what the compiler and Eigen take the machine for, so it stands behind the others.
#include "worker/device/cpu/factor/eigen_avx2.inc"
// Eigen.
#include <Eigen/Eigenvalues>

namespace weir::cpu::avx2 {

#include "worker/device/cpu/factor/spectra.inc"

template <class W>
bool Eigh(const Block<W>& block, const Block<double>& values) {
  FixBlockingOnce();
  Map<W> a = MapOf(block);
  const Matrix<W> lower = a.template triangularView<Eigen::Lower>();
  if (!lower.allFinite()) return false;
  const Eigen::SelfAdjointEigenSolver<Matrix<W>> solver(lower);
  if (solver.info() != Eigen::Success) return false;
  MapOf(values) = solver.eigenvalues();
  a = solver.eigenvectors();
  for (int64_t i = 0; i < a.cols(); ++i) a.col(i) *= PhaseOf<W>(a.col(i));
  return true;
}

template bool Eigh(const Block<double>&, const Block<double>&);
template bool Eigh(const Block<C>&, const Block<double>&);

}  // namespace weir::cpu::avx2
