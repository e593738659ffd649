#include "server/compiler/pfor/variance.h"

#include <algorithm>

#include "common/ops/registry.h"

namespace weir {
namespace {

class NodeVariance : public VarianceContext {
 public:
  NodeVariance(Variance* variance, const Node& node) : variance_(variance), node_(node) {}
  const Graph& graph() const override { return variance_->graph(); }
  const Node& node() const override { return node_; }
  bool varies(ValueId value) const override { return variance_->varies(value); }
  void MarkVarying(ValueId value) override { variance_->MarkVarying(value); }
  void AnalyzeRegion(RegionId region) override { variance_->AnalyzeRegion(region); }

 private:
  Variance* variance_;
  const Node& node_;
};

}  // namespace

bool Variance::Touched(NodeId id) const {
  const Node& node = graph_.node(id);
  auto varying = [this](ValueId value) { return varies(value); };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), varying)) return true;
  for (RegionId region : node.regions) {
    const std::vector<ValueId> captures = graph_.Captures(region);
    if (std::any_of(captures.begin(), captures.end(), varying)) return true;
  }
  return false;
}

void Variance::AnalyzeRegion(RegionId region) {
  for (NodeId id : graph_.region(region).nodes) {
    const Node& node = graph_.node(id);
    const OpDef* op = FindOp(node.op);
    if (op != nullptr && op->variance != nullptr) {
      NodeVariance context(this, node);
      op->variance(context);
    } else if (Touched(id)) {
      for (ValueId output : node.outputs) MarkVarying(output);
    }
  }
}

}  // namespace weir
