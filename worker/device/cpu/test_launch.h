// Runs ops through launches and kernels in tests, with operands and results laid out in many ways.
// Only tests include this; stateless.
#ifndef WEIR_WORKER_DEVICE_CPU_TEST_LAUNCH_H_
#define WEIR_WORKER_DEVICE_CPU_TEST_LAUNCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ops/op_def.h"
#include "worker/device/cpu/groups.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {

// How tensors lie in memory.
enum class Lie {
  kRowMajor,
  kReversed,   // the first axis is the innermost
  kSpread,     // row-major with gaps between elements
  kPreferred,  // results: as the kernel likes them; operands: row-major
};
inline constexpr Lie kLies[] = {Lie::kRowMajor, Lie::kReversed, Lie::kSpread, Lie::kPreferred};

// The same elements laid out anew.
Tensor LaidOut(const Tensor& tensor, Lie lie);

struct RunOptions {
  Isa isa = Isa::kBaseline;
  Lie operands = Lie::kRowMajor;
  Lie results = Lie::kRowMajor;
  // Parameters whose values the kernels may know beforehand.
  bool constant_rhs = false;
};

// Runs the entry function, launch by launch. Appends the name of each kernel to `kernels`.
absl::StatusOr<std::vector<Tensor>> RunLaunches(const Graph& graph,
                                                const std::vector<Tensor>& inputs,
                                                const RunOptions& options,
                                                std::vector<std::string>* kernels = nullptr);
// The same through reference evaluations only.
absl::StatusOr<std::vector<Tensor>> RunReference(const Graph& graph,
                                                 const std::vector<Tensor>& inputs);

// Returns: where the tensors differ by more than the sample allows (NaN equals NaN), or nothing.
std::string Difference(const Tensor& got, const Tensor& want, double ulp, double absolute);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_TEST_LAUNCH_H_
