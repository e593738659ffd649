// Which kernel runs which op on the CPU: one table (kernel_list.inc), for each op its makers, the
// fastest first; the reference evaluation stands last for every op. Immutable; usable from any
// thread.
#ifndef WEIR_WORKER_DEVICE_CPU_REGISTRY_H_
#define WEIR_WORKER_DEVICE_CPU_REGISTRY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

// Returns: a kernel for the one node (or group) of `request`, or an error whose message is the
// reason why this implementation does not take it.
using KernelMaker = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelRequest& request);

struct KernelEntry {
  std::string_view op;
  std::string_view implementation;
  KernelMaker make;
};

// Rows of the table for `op`, fastest first; the reference evaluation is not listed.
std::vector<KernelEntry> KernelsFor(std::string_view op);

// Returns: the first kernel that takes the request. REQUIRES: `nodes` is one node or a launch of
// groups.h. Appends to `refusals`, if given, one line for each implementation that did not
// take it. Errors: UNIMPLEMENTED for ops that have regions (the executor runs those).
absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(const KernelRequest& request,
                                                   std::vector<std::string>* refusals = nullptr);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_REGISTRY_H_
