#include "worker/device/cpu/factor/eigen_before.h"

// GCC does not say __AVX2__ and the like after this pragma, so Eigen is told by its own names. What
// the standard library has inline was read before, for every machine.
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define Eigen EigenAvx2
#define EIGEN_VECTORIZE_SSE3
#define EIGEN_VECTORIZE_SSSE3
#define EIGEN_VECTORIZE_SSE4_1
#define EIGEN_VECTORIZE_SSE4_2
#define EIGEN_VECTORIZE_AVX
#define EIGEN_VECTORIZE_AVX2
#define EIGEN_VECTORIZE_FMA
#define EIGEN_MAX_ALIGN_BYTES 32
#define EIGEN_STACK_ALLOCATION_LIMIT (1 << 20)
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace weir::cpu::avx2 {

#include "worker/device/cpu/factor/factor_loops.inc"

}  // namespace weir::cpu::avx2
#pragma GCC pop_options
