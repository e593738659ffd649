#include "worker/device/cpu/compute_thread.h"

#include <omp.h>

namespace weir::cpu {

void EnterComputeThread() { omp_set_num_threads(1); }

}  // namespace weir::cpu
