#include "common/ops/linalg/basis.h"
#include "worker/device/cpu/factor/eigen_before.h"
#include "worker/device/cpu/factor/spectra.h"
// Changes what the compiler and Eigen take the machine for, so it stands behind the others.
#include "worker/device/cpu/factor/eigen_avx2.inc"
// Eigen.
#include <Eigen/SVD>

namespace weir::cpu::avx2 {

#include "worker/device/cpu/factor/spectra.inc"

namespace {

enum class Wanted { kValues, kVectors };

// As many columns of u and v as there are values.
template <class W>
struct Thin {
  Eigen::VectorXd s;
  Matrix<W> u, v;
};

bool Factor(const Matrix<double>& a, Wanted wanted, Thin<double>* out) {
  const unsigned vectors = Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<Matrix<double>> svd(a, wanted == Wanted::kVectors ? vectors : 0);
  if (svd.info() != Eigen::Success) return false;
  out->s = svd.singularValues();
  if (wanted == Wanted::kValues) return true;
  out->u = svd.matrixU();
  out->v = svd.matrixV();
  return true;
}

// A complex matrix is turned into a real one of two diagonals first, so that Eigen's method is
// compiled for real matrices only.
bool Factor(const Matrix<C>& a, Wanted wanted, Thin<C>* out) {
  if (a.rows() < a.cols()) {
    if (!Factor(Matrix<C>(a.adjoint()), wanted, out)) return false;
    out->u.swap(out->v);
    return true;
  }
  const double largest = a.cwiseAbs().maxCoeff();
  const double scale = largest > 0 ? largest : 1;
  Eigen::internal::UpperBidiagonalization<Matrix<C>> reduced(a / scale);
  Thin<double> real;
  if (!Factor(Matrix<double>(reduced.bidiagonal().toDenseMatrix()), wanted, &real)) return false;
  out->s = real.s * scale;
  if (wanted == Wanted::kValues) return true;
  out->u = Matrix<C>::Zero(a.rows(), a.cols());
  out->u.topRows(a.cols()) = real.u.cast<C>();
  out->u.applyOnTheLeft(reduced.householderU());
  out->v = real.v.cast<C>();
  out->v.applyOnTheLeft(reduced.householderV());
  return true;
}

// The columns of zero singular values, and those beyond, become what completes the others.
template <class W>
Matrix<W> Completed(const Matrix<W>& vectors, int64_t rank, int64_t columns) {
  Matrix<W> out(vectors.rows(), columns);
  out.leftCols(rank) = vectors.leftCols(rank);
  CompleteBasis(out.data(), out.rows(), rank, columns);
  return out;
}

// The phase of a pair of singular vectors follows the left one; vectors without a partner have
// their own.
template <class W>
void FixPhases(Matrix<W>* u, Matrix<W>* v) {
  for (int64_t i = 0; i < std::max(u->cols(), v->cols()); ++i) {
    const W phase = i < u->cols() ? PhaseOf<W>(u->col(i)) : PhaseOf<W>(v->col(i));
    if (i < u->cols()) u->col(i) *= phase;
    if (i < v->cols()) v->col(i) *= phase;
  }
}

}  // namespace

template <class W>
bool Svd(const Block<W>& block, const Block<double>& values, const Block<W>& left,
         const Block<W>& right) {
  FixBlockingOnce();
  const Matrix<W> a = MapOf(block);
  if (!a.allFinite()) return false;
  const Wanted wanted = left.columns > 0 ? Wanted::kVectors : Wanted::kValues;
  Thin<W> found;
  if (!Factor(a, wanted, &found)) return false;
  MapOf(values) = found.s;
  if (wanted == Wanted::kValues) return true;
  const int64_t rank = RankOf(found.s.data(), a.rows(), a.cols());
  Matrix<W> u = Completed<W>(found.u, rank, left.columns);
  Matrix<W> v = Completed<W>(found.v, rank, right.rows);
  FixPhases<W>(&u, &v);
  MapOf(left) = u;
  MapOf(right) = v.adjoint();
  return true;
}

template bool Svd(const Block<double>&, const Block<double>&, const Block<double>&,
                  const Block<double>&);
template bool Svd(const Block<C>&, const Block<double>&, const Block<C>&, const Block<C>&);

}  // namespace weir::cpu::avx2
