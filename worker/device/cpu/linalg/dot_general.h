// dot_general over the products of contraction/product.h, with bias and relu. A constant right-hand
// side without batch axes is packed once.
#ifndef WEIR_WORKER_DEVICE_CPU_LINALG_DOT_GENERAL_H_
#define WEIR_WORKER_DEVICE_CPU_LINALG_DOT_GENERAL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeDotGeneral(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_LINALG_DOT_GENERAL_H_
