#include "worker/device/cpu/reference_kernel.h"

#include <algorithm>
#include <vector>

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "common/tensor/copy.h"

namespace weir::cpu {
namespace {

class NodeContext final : public EvalContext {
 public:
  NodeContext(const Graph& graph, const Node& node, const std::vector<Tensor>& inputs,
              const KernelCall& call)
      : EvalContext(graph, node, inputs, call.symbols == nullptr ? kNoSymbols : *call.symbols),
        lines_(call.lines) {}

  PrintedLines* printed_lines() override { return lines_; }
  absl::StatusOr<std::vector<Tensor>> RunRegion(int, std::vector<Tensor>,
                                                const SymbolBindings&) override {
    return absl::UnimplementedError("a kernel runs no regions");
  }
  absl::StatusOr<std::vector<Tensor>> CallFunction(std::string_view, std::vector<Tensor>) override {
    return absl::UnimplementedError("a kernel calls no functions");
  }

 private:
  static inline const SymbolBindings kNoSymbols;

  PrintedLines* const lines_;
};

// A tensor over memory of somebody else.
Tensor Borrow(const View& view) {
  int64_t lowest = 0, highest = 0;
  for (int axis = 0; axis < view.rank(); ++axis) {
    const int64_t reach = std::max<int64_t>(view.extents[axis] - 1, 0) * view.strides[axis];
    (reach < 0 ? lowest : highest) += reach;
  }
  const int64_t size = SizeOf(view.dtype);
  std::byte* begin = view.as<std::byte>() + lowest * size;
  return Tensor(view.dtype, view.extents, view.strides, -lowest,
                Buffer::Wrap(begin, (highest - lowest + 1) * size, [] {}));
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const KernelRequest& request, const OpDef& op)
      : graph_(*request.graph), node_(request.node()), op_(op), places_(request.InputPlaces()) {}

  std::string_view name() const override { return "reference"; }
  bool allocates_per_call() const override { return true; }

  absl::Status Run(const KernelCall& call) const override {
    std::vector<Tensor> inputs;
    for (int place : places_) inputs.push_back(Borrow(call.operands[place]));
    NodeContext context(graph_, node_, inputs, call);
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, op_.reference(context));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const View& to = call.results[i];
      if (absl::MakeConstSpan(outputs[i].extents()) != to.extents) {
        return absl::InternalError(StrCat("result ", i, " has extents ",
                                          ExtentsToString(outputs[i].extents()), ", planned were ",
                                          ExtentsToString(to.extents)));
      }
      CopyStrided(to.dtype, to.extents, outputs[i].raw_data(), outputs[i].strides(), to.data,
                  to.strides);
    }
    return absl::OkStatus();
  }

 private:
  const Graph& graph_;
  const Node& node_;
  const OpDef& op_;
  const std::vector<int> places_;  // of the inputs
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeReference(const KernelRequest& request) {
  const Node& node = request.node();
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || op->reference == nullptr) {
    return absl::UnimplementedError(StrCat("there is no evaluation of ", node.op));
  }
  if (!node.regions.empty() || node.op == "call") {
    return absl::UnimplementedError(StrCat(node.op, " has regions, which kernels do not run"));
  }
  return std::unique_ptr<Kernel>(new ReferenceKernel(request, *op));
}

}  // namespace weir::cpu
