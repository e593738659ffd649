// What runs on a CPU: a kernel is made once for a node (or a group of nodes fused into one launch)
// and then takes extents, strides and addresses as arguments of each call. Kernels are immutable;
// one kernel may run on many threads at once, each call on one thread.
//
// Contract of every kernel:
//   * a row's bits do not depend on how many rows are computed with it, on strides, on addresses or
//     on the thread, only on the row and the instruction set;
//   * operands and results may have any strides (results: no two elements in one place) and any
//     alignment of their element type; orders that a kernel likes are a matter of speed only;
//   * a result may lie exactly where an operand lies (same address, same strides) if the op's
//     definition says may_overwrite; otherwise results overlap nothing;
//   * a call allocates nothing and takes its scratch memory from the caller, unless
//     allocates_per_call() says otherwise.
//
//   std::unique_ptr<Kernel> kernel = *MakeKernel(request);        // registry.h
//   scratch.resize(kernel->ScratchBytes(operands, results));
//   kernel->Run({operands, results, scratch, symbols});
#ifndef WEIR_WORKER_DEVICE_CPU_KERNEL_H_
#define WEIR_WORKER_DEVICE_CPU_KERNEL_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "common/ops/op_def.h"
#include "common/tensor/tensor.h"

namespace weir::cpu {

// A strided piece of memory that somebody else owns. Strides count elements.
struct View {
  void* data = nullptr;  // of operands, read only
  DType dtype = DType::kF32;
  absl::Span<const int64_t> extents;
  absl::Span<const int64_t> strides;

  int rank() const { return static_cast<int>(extents.size()); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// Returns: a view of the tensor's memory; valid while the tensor lives.
View ViewOf(const Tensor& tensor);

// Axes in the order of their strides, outermost first.
using AxisOrder = absl::InlinedVector<int, 6>;
// Returns: 0, 1, 2, ...
AxisOrder RowMajorOrder(int rank);
// Returns: the axes of `view` by falling stride; axes of extent one and broadcast axes keep their
// place next to their left neighbour.
AxisOrder OrderOf(const View& view);
// Returns: the strides of a dense tensor whose axes lie in `order`.
Extents StridesInOrder(absl::Span<const int64_t> extents, const AxisOrder& order);

struct KernelCall {
  absl::Span<const View> operands;
  absl::Span<const View> results;
  absl::Span<std::byte> scratch;  // at least ScratchBytes(operands, results), aligned to 64
  const SymbolBindings* symbols = nullptr;  // for attributes that are symbolic dimensions
  PrintedLines* lines = nullptr;            // may be null
};

class Kernel {
 public:
  static constexpr size_t kScratchAlignment = 64;

  virtual ~Kernel() = default;
  // Which implementation this is, for `explain`: "contraction", "fused(add,maximum)".
  virtual std::string_view name() const = 0;

  // Scratch for a call with these extents and strides; addresses are not looked at.
  virtual size_t ScratchBytes(absl::Span<const View> operands,
                              absl::Span<const View> results) const {
    return 0;
  }
  // The order of axes in which result `index` is best laid out, given the operands as they are.
  // `results` have extents, their strides are not looked at.
  virtual AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View> results,
                                int index) const {
    return RowMajorOrder(results[index].rank());
  }
  virtual absl::Status Run(const KernelCall& call) const = 0;

  // True for kernels that fall back on an op's reference evaluation.
  virtual bool allocates_per_call() const { return false; }
  // Bytes that the kernel keeps between calls (packed constants).
  virtual size_t resident_bytes() const { return 0; }
};

// What a kernel is made from; graph and constants outlive it. `nodes` is one node, or a fused group
// in program order; `operands` are the values that the nodes use from outside, `results` those that
// others use.
struct KernelRequest {
  const Graph* graph = nullptr;
  absl::Span<const NodeId> nodes;
  absl::Span<const ValueId> operands;
  absl::Span<const ValueId> results;
  // For each operand its value if it is the same in every call, else null. May be empty.
  absl::Span<const Tensor* const> constants;
  Isa isa = Isa::kBaseline;

  const Node& node() const { return graph->node(nodes.front()); }
  const TensorType& operand_type(int i) const { return graph->type(operands[i]); }
  const TensorType& result_type(int i) const { return graph->type(results[i]); }
  const Tensor* constant(int i) const { return constants.empty() ? nullptr : constants[i]; }
  // The place of a value among the operands, which are listed once each. REQUIRES: it is one.
  int PlaceOf(ValueId operand) const;
  // The places of the inputs of the (first) node.
  std::vector<int> InputPlaces() const;
};

// Returns: the best instruction set that this machine and this build have. kAvx2 includes FMA.
Isa DetectIsa();
// Returns: every instruction set that this machine has, kBaseline first.
std::vector<Isa> SupportedIsas();
std::string_view IsaName(Isa isa);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_KERNEL_H_
