// Which singular vectors a matrix leaves open, and what they are then: so that whoever computes
// singular vectors chooses the same ones. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_LINALG_BASIS_H_
#define WEIR_COMMON_OPS_LINALG_BASIS_H_

#include <cstdint>

namespace weir {

// Returns: how many of the min(rows, columns) descending singular values are not zero within
// rounding (numpy.linalg.matrix_rank, in double precision).
int64_t RankOf(const double* values, int64_t rows, int64_t columns);

// Writes columns `known` to `columns` - 1 of a matrix that lies column after column, whose first
// ones are orthonormal: the Householder reflections that make those unit vectors, one after the
// other, taken back on the unit vectors that are left. W is double or std::complex<double>.
// REQUIRES: known <= columns <= rows.
template <class W>
void CompleteBasis(W* matrix, int64_t rows, int64_t known, int64_t columns);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LINALG_BASIS_H_
