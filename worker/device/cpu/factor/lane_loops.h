// Factorizations of several small matrices side by side, one in each lane of a vector, compiled
// once for each instruction set. Every lane does what it would do alone, and no multiply-add is
// fused, so a result has the same bits in any lane, beside any others and on every instruction set.
// Immutable tables of functions; usable from any thread.
//
// Element (i, j) of the matrices lies at memory + (i * columns + j) * parts * lanes: its real parts
// in all lanes, then for complex numbers (two parts) the imaginary ones. Memory is aligned to 64
// bytes.
#ifndef WEIR_WORKER_DEVICE_CPU_FACTOR_LANE_LOOPS_H_
#define WEIR_WORKER_DEVICE_CPU_FACTOR_LANE_LOOPS_H_

#include <cstdint>

#include "worker/device/cpu/factor/factor_loops.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

inline constexpr int kMaxLanes = 8;

// Where the numbers of some matrices lie: those of lane l from data + offsets[l] on. All distances
// count real numbers, a complex one being two.
template <class T>
struct LaneSource {
  T* data = nullptr;
  int64_t offsets[kMaxLanes] = {};
  int64_t row = 0;
  int64_t column = 0;
  // Write only: lanes from here on hold nothing.
  int count = kMaxLanes;
};

// For numbers of one kind: real (parts = 1) or complex (parts = 2).
struct LaneLoops {
  int lanes = 1;

  void (*load_f32)(const LaneSource<const float>& from, int64_t rows, int64_t columns, double* to);
  void (*load_f64)(const LaneSource<const double>& from, int64_t rows, int64_t columns, double* to);
  void (*store_f32)(const double* from, int64_t rows, int64_t columns, const LaneSource<float>& to);
  void (*store_f64)(const double* from, int64_t rows, int64_t columns,
                    const LaneSource<double>& to);

  // What the functions mean is what the ops' definitions say (common/ops/linalg). In place:
  // the lower triangle of n x n matrices, NaN where one is not positive, zeros above.
  void (*cholesky)(int64_t n, double* a);
  // m x n right-hand sides in place.
  void (*substitute)(int64_t m, int64_t n, const double* a, Triangle triangle, Diagonal diagonal,
                     double* x);
  // The row swapped at step k is pivots[k * lanes + lane].
  void (*lu)(int64_t m, int64_t n, double* a, int32_t* pivots);
  // Makes r in the place of the m x n `a`, and m x columns of q. `work` holds min(m, n) elements.
  void (*qr)(int64_t m, int64_t n, int64_t columns, double* a, double* q, double* work);
  // Of plain memory the first `count` numbers, and those that fill the last vector.
  void (*divide)(int64_t count, double divisor, double* x);
};

const LaneLoops& LaneLoopsFor(Isa isa, int parts);

// The tables of real and of complex numbers for each instruction set, in a file of its own.
namespace baseline {
const LaneLoops& Lanes(int parts);
}
namespace avx2 {
const LaneLoops& Lanes(int parts);
}
namespace avx512 {
const LaneLoops& Lanes(int parts);
}

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FACTOR_LANE_LOOPS_H_
