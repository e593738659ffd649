#include "server/compiler/factored/live.h"

#include "common/ops/registry.h"
#include "server/compiler/optimize/results.h"

namespace weir::factored {

Live::Live(const Graph& graph, const Replacements& replacements)
    : graph_(graph), replacements_(replacements) {
  for (const Function& function : graph.functions()) {
    for (ValueId result : graph.region(function.body).results) Mark(result);
    MarkEffects(function.body);
  }
  while (!waiting_.empty()) {
    const ValueId value = waiting_.back();
    waiting_.pop_back();
    Visit(value);
  }
}

void Live::MarkEffects(RegionId region) {
  for (NodeId id : graph_.region(region).nodes) {
    const Node& node = graph_.node(id);
    const OpDef* op = FindOp(node.op);
    if (op == nullptr || op->effect != Effect::kPure) {
      for (ValueId input : node.inputs) Mark(input);
      Enter(id);
      EnterRegion(region);
    }
    for (RegionId inner : node.regions) MarkEffects(inner);
  }
}

void Live::Mark(ValueId value) {
  if (values_.insert(value).second) waiting_.push_back(value);
}

void Live::Visit(ValueId value) {
  const Value& made = graph_.value(value);
  EnterRegion(made.region);
  if (!made.producer.valid()) return;
  if (auto it = replacements_.find(made.producer); it != replacements_.end()) {
    for (ValueId read : it->second) Mark(read);
    return;
  }
  const Node& node = graph_.node(made.producer);
  Enter(made.producer);
  if (IsCollected(node, made.index)) Mark(graph_.region(node.regions[0]).results[made.index]);
}

void Live::Enter(NodeId id) {
  if (!entered_.insert(id).second) return;
  const Node& node = graph_.node(id);
  for (ValueId input : node.inputs) Mark(input);
  for (NodeId control : node.control_inputs) {
    for (ValueId output : graph_.node(control).outputs) Mark(output);
    Enter(control);
  }
  for (RegionId region : node.regions) {
    const std::vector<ValueId>& results = graph_.region(region).results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!IsCollected(node, static_cast<int>(i))) Mark(results[i]);
    }
  }
}

void Live::EnterRegion(RegionId region) {
  const NodeId parent = graph_.region(region).parent;
  if (!parent.valid() || entered_.contains(parent)) return;
  Enter(parent);
  EnterRegion(graph_.node(parent).parent);
}

}  // namespace weir::factored
