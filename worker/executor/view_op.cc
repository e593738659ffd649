#include "worker/executor/view_op.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/eval.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

class ViewContext : public EvalContext {
 public:
  using EvalContext::EvalContext;
  using EvalContext::RunRegion;
  absl::StatusOr<std::vector<Tensor>> RunRegion(int, std::vector<Tensor>,
                                                const SymbolBindings&) override {
    return absl::InternalError("a view op has no region");
  }
  absl::StatusOr<std::vector<Tensor>> CallFunction(std::string_view, std::vector<Tensor>) override {
    return absl::InternalError("a view op calls no function");
  }
};

}  // namespace

absl::StatusOr<std::optional<ViewedLayout>> ApplyViewOp(const Graph& graph, const Node& node,
                                                        const Layout& operand,
                                                        const SymbolBindings& symbols) {
  auto nowhere = Buffer::Wrap(nullptr, 0, [] {});
  const Tensor tensor(operand.dtype, operand.extents, operand.strides, 0, std::move(nowhere));
  if (node.op == "reshape") {
    WEIR_ASSIGN_OR_RETURN(const Extents extents,
                          graph.type(node.outputs[0]).shape.Evaluate(symbols));
    if (NumElements(extents) != tensor.num_elements()) {
      return InvalidArgument("cannot reshape ", ExtentsToString(operand.extents), " to ",
                             ExtentsToString(extents));
    }
    const std::optional<Tensor> view = tensor.TryReshape(extents);
    if (!view.has_value()) return std::nullopt;
    return ViewedLayout{Layout::Of(*view), view->offset()};
  }
  const std::vector<Tensor> inputs = {tensor};
  ViewContext context(graph, node, inputs, symbols);
  WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> views, FindOp(node.op)->reference(context));
  return ViewedLayout{Layout::Of(views[0]), views[0].offset()};
}

}  // namespace weir
