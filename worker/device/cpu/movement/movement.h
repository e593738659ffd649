// Kernels that move elements without looking at them: through CopyStrided, into or out of any
// layout.
#ifndef WEIR_WORKER_DEVICE_CPU_MOVEMENT_MOVEMENT_H_
#define WEIR_WORKER_DEVICE_CPU_MOVEMENT_MOVEMENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeIota(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeDynamicSlice(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeDynamicUpdateSlice(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeConcatenate(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakePad(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeGather(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeScatter(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_MOVEMENT_MOVEMENT_H_
