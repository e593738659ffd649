// fft over the lines of line_loops.h, one after the other along each axis: f32 and c64 in single
// precision, f64 and c128 in double. Plans are made with the kernel, or where lengths are symbols
// when they are first known.
#ifndef WEIR_WORKER_DEVICE_CPU_FFT_FFT_H_
#define WEIR_WORKER_DEVICE_CPU_FFT_FFT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeFft(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_FFT_FFT_H_
