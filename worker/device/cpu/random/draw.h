// rng_bits, rng_uniform and rng_normal: the op's own fill, row by row, straight into the result
// where a row is dense there.
#ifndef WEIR_WORKER_DEVICE_CPU_RANDOM_DRAW_H_
#define WEIR_WORKER_DEVICE_CPU_RANDOM_DRAW_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeDraw(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_RANDOM_DRAW_H_
