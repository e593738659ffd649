#include "worker/device/cpu/registry.h"

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "worker/device/cpu/fft/fft.h"
#include "worker/device/cpu/fused.h"
#include "worker/device/cpu/linalg/dot_general.h"
#include "worker/device/cpu/linalg/factorizations.h"
#include "worker/device/cpu/movement/movement.h"
#include "worker/device/cpu/nn/convolution.h"
#include "worker/device/cpu/nn/reduce_window.h"
#include "worker/device/cpu/random/draw.h"
#include "worker/device/cpu/reduce/reduce.h"
#include "worker/device/cpu/reference_kernel.h"
#include "worker/device/cpu/sort/sort.h"

namespace weir::cpu {
namespace {

constexpr std::string_view kElementwise = "";

constexpr KernelEntry kKernels[] = {
#define WEIR_KERNEL(op, implementation, maker) {op, implementation, &maker},
#include "worker/device/cpu/kernel_list.inc"
#undef WEIR_KERNEL
};

bool IsElementwise(std::string_view name) {
  const OpDef* op = FindOp(name);
  return op != nullptr && op->elementwise.has_value();
}

}  // namespace

std::vector<KernelEntry> KernelsFor(std::string_view op) {
  std::vector<KernelEntry> entries;
  const bool elementwise = IsElementwise(op);
  for (const KernelEntry& entry : kKernels) {
    if (entry.op == op || (entry.op == kElementwise && elementwise)) entries.push_back(entry);
  }
  return entries;
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(const KernelRequest& request,
                                                   std::vector<std::string>* refusals) {
  const std::string& op = request.node().op;
  for (const KernelEntry& entry : KernelsFor(op)) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = entry.make(request);
    if (kernel.ok()) return kernel;
    if (refusals != nullptr) {
      refusals->push_back(StrCat(entry.implementation, ": ", kernel.status().message()));
    }
  }
  if (request.nodes.size() > 1) {
    return absl::InternalError(
        StrCat("no kernel for a group of ", request.nodes.size(), " nodes that begins with ", op));
  }
  return MakeReference(request);
}

}  // namespace weir::cpu
