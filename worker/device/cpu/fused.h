// Groups of element-wise nodes in one launch: a small program over registers that hold tiles of a
// few hundred elements in the L1 cache, run tile by tile through the ops' precompiled loops.
// Operands and results that are dense are used where they lie; others (broadcasts, transposes) are
// gathered into a register once a tile, or once for all tiles that repeat.
//
// Every op is rounded on its own, so a group has the bits of its ops one by one.
#ifndef WEIR_WORKER_DEVICE_CPU_FUSED_H_
#define WEIR_WORKER_DEVICE_CPU_FUSED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

// Returns: a kernel for one or more element-wise nodes, or why there is none.
absl::StatusOr<std::unique_ptr<Kernel>> MakeFused(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FUSED_H_
