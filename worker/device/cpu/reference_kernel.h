// The last resort for every op without regions: its reference evaluation, with results copied to
// where they belong. Slow, and allocates in each call.
#ifndef WEIR_WORKER_DEVICE_CPU_REFERENCE_KERNEL_H_
#define WEIR_WORKER_DEVICE_CPU_REFERENCE_KERNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeReference(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_REFERENCE_KERNEL_H_
