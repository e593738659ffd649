// Eigenvalues and singular values of one matrix in double precision on Eigen, for AVX2 alone: each
// in a file of its own, as Eigen takes long to compile, in the Eigen that factor_loops.h tells of.
// Other machines run the ops' reference evaluation. Pure functions; usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_FACTOR_SPECTRA_H_
#define WEIR_WORKER_DEVICE_CPU_FACTOR_SPECTRA_H_

#include <complex>

#include "worker/device/cpu/factor/factor_loops.h"

namespace weir::cpu::avx2 {

// What the functions mean, phases included, is what the ops' definitions say (common/ops/linalg); W
// is double or std::complex<double>. Values are columns. No block is empty, but those of singular
// vectors if none are wanted. All of them allocate what Eigen's classes hold, a few times the
// matrix, and free it.
//
// Each returns whether it found them: false if the matrix is not finite or the iteration does not
// end, and then the blocks hold anything.

// Reads the lower triangle of `a`, in whose place come the eigenvectors.
template <class W>
bool Eigh(const Block<W>& a, const Block<double>& values);

template <class W>
bool Eig(const Block<W>& a, const Block<std::complex<double>>& values,
         const Block<std::complex<double>>& vectors);

// As many columns of u and rows of vh as they have.
template <class W>
bool Svd(const Block<W>& a, const Block<double>& values, const Block<W>& u, const Block<W>& vh);

}  // namespace weir::cpu::avx2

#endif  // WEIR_WORKER_DEVICE_CPU_FACTOR_SPECTRA_H_
