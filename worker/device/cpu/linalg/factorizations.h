// Kernels of the ops over matrices in the last two axes, on the loops of factor/: the
// factorizations of common/ops/linalg, one file each. f32 and c64 are computed in double precision,
// as the reference does, and rounded once at the end.
#ifndef WEIR_WORKER_DEVICE_CPU_LINALG_FACTORIZATIONS_H_
#define WEIR_WORKER_DEVICE_CPU_LINALG_FACTORIZATIONS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

absl::StatusOr<std::unique_ptr<Kernel>> MakeCholesky(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeTriangularSolve(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeLu(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeQr(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeEigh(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeEig(const KernelRequest& request);
absl::StatusOr<std::unique_ptr<Kernel>> MakeSvd(const KernelRequest& request);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_LINALG_FACTORIZATIONS_H_
