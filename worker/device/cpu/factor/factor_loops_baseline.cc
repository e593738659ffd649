#include "worker/device/cpu/factor/eigen_before.h"

#define Eigen EigenBaseline
#define EIGEN_STACK_ALLOCATION_LIMIT (1 << 20)
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace weir::cpu::baseline {

#include "worker/device/cpu/factor/factor_loops.inc"

}  // namespace weir::cpu::baseline
