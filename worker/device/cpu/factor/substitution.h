// Triangular systems with many right-hand sides, in real numbers of double precision: rows are
// solved in blocks, what is known already goes into each block as a product (contraction/), and the
// right-hand sides lie along the vectors. Each element is one chain over the unknowns in the order
// in which they become known, whatever stands beside it. Stateless; usable from any thread; memory
// comes from the caller.
#ifndef WEIR_WORKER_DEVICE_CPU_FACTOR_SUBSTITUTION_H_
#define WEIR_WORKER_DEVICE_CPU_FACTOR_SUBSTITUTION_H_

#include <cstdint>

#include "worker/device/cpu/factor/factor_loops.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

// A system whose unknowns are in the order in which they become known: the factor is lower.
struct Substitution {
  int64_t rows = 0;
  int64_t columns = 0;       // of the right-hand sides
  double* factor = nullptr;  // row after row; left of the diagonal the negated elements
  double* sides = nullptr;   // row after row; becomes the solution
  int64_t sides_stride = 0;  // from row to row
  Diagonal diagonal = Diagonal::kStored;
};

// Elements from row to row of right-hand sides: whole vectors, an odd number of cache lines.
int64_t SidesStride(int64_t columns);

// REQUIRES: factor and sides are aligned to 64 bytes, what lies between `columns` and the stride is
// initialized.
void Substitute(Isa isa, const Substitution& system);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FACTOR_SUBSTITUTION_H_
