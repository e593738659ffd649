// convolution over the loops of contraction/convolve.h, with bias and relu. Constant filters are
// packed once, window tables are kept for the extents seen.
#ifndef WEIR_WORKER_DEVICE_CPU_NN_CONVOLUTION_H_
#define WEIR_WORKER_DEVICE_CPU_NN_CONVOLUTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeConvolution(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_NN_CONVOLUTION_H_
