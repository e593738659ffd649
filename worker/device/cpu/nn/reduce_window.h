// reduce_window (pooling): each window one chain in row-major order, side by side along an axis
// that the window leaves alone where there is one (channels, or rows in lanes).
#ifndef WEIR_WORKER_DEVICE_CPU_NN_REDUCE_WINDOW_H_
#define WEIR_WORKER_DEVICE_CPU_NN_REDUCE_WINDOW_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeReduceWindow(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_NN_REDUCE_WINDOW_H_
