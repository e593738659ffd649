#include "worker/device/cpu/factor/eigen_before.h"
// Changes what the compiler and Eigen take the machine for, so it stands behind the others.
#include "worker/device/cpu/factor/eigen_avx2.inc"
// Eigen.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace weir::cpu::avx2 {

#include "worker/device/cpu/factor/factor_loops.inc"

}  // namespace weir::cpu::avx2
