// sort and top_k, line by line. Equal keys keep their order: positions break ties, so an unstable
// sort without memory of its own gives the stable order.
#ifndef WEIR_WORKER_DEVICE_CPU_SORT_SORT_H_
#define WEIR_WORKER_DEVICE_CPU_SORT_SORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeSort(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeTopK(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_SORT_SORT_H_
