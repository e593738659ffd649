// Reductions over axes, running reductions along one axis, and positions of extremes.
#ifndef WEIR_WORKER_DEVICE_CPU_REDUCE_REDUCE_H_
#define WEIR_WORKER_DEVICE_CPU_REDUCE_REDUCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeReduce(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeCumulative(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeExtremum(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_REDUCE_REDUCE_H_
