// Factorizations of one matrix in double precision on Eigen, compiled for the baseline and for
// AVX2: each table's Eigen has a namespace of its own, so code for a wider instruction set does not
// leak into the functions of another. Immutable tables of functions; usable from any thread.
//
// Blocks lie column after column with every column aligned to 64 bytes, because Eigen's sums follow
// the alignment of what they read: so the bits depend on the matrix and the instruction set alone.
#ifndef WEIR_WORKER_DEVICE_CPU_FACTOR_FACTOR_LOOPS_H_
#define WEIR_WORKER_DEVICE_CPU_FACTOR_FACTOR_LOOPS_H_

#include <complex>
#include <cstdint>

#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

enum class Triangle { kLower, kUpper };
enum class Diagonal { kStored, kOnes };

template <class W>
struct Block {
  W* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;  // from column to column

  W& operator()(int64_t i, int64_t j) const { return data[j * stride + i]; }
};

// What the functions mean is what the ops' definitions say (common/ops/linalg); W is double or
// std::complex<double>. No block is empty.
template <class W>
struct FactorLoops {
  // The lower triangle in place; what is above it stays. Returns: whether `a` is positive definite.
  bool (*cholesky)(const Block<W>& a) = nullptr;
  // In place of the right-hand sides.
  void (*substitute)(const Block<W>& a, Triangle triangle, Diagonal diagonal,
                     const Block<W>& x) = nullptr;
  // In place, with the row swapped at each step.
  void (*lu)(const Block<W>& a, int32_t* pivots) = nullptr;
  // The upper triangle of `a` becomes r; `q` gets as many columns as it has. Allocates what Eigen's
  // class holds.
  void (*qr)(const Block<W>& a, const Block<W>& q) = nullptr;
};

template <class W>
const FactorLoops<W>& FactorLoopsFor(Isa isa);

// The tables, each in a file of its own. AVX-512 has the loops, and so the bits, of AVX2.
namespace baseline {
template <class W>
const FactorLoops<W>& Factors();
}
namespace avx2 {
template <class W>
const FactorLoops<W>& Factors();
}

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FACTOR_FACTOR_LOOPS_H_
