#include <algorithm>
#include <set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "server/compiler/effects.h"
#include "server/compiler/optimize/results.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace {

class DeadCode {
 public:
  explicit DeadCode(Graph* graph) : graph_(graph) {}

  void Sweep(RegionId region) {
    for (ValueId result : graph_->region(region).results) used_.insert(result);
    std::vector<NodeId> kept;
    const std::vector<NodeId> nodes = graph_->region(region).nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (!IsLive(*it)) continue;
      kept.push_back(*it);
      MarkUses(*it);
    }
    std::reverse(kept.begin(), kept.end());
    graph_->region(region).nodes = std::move(kept);
  }

  const std::set<std::string>& called() const { return called_; }

 private:
  bool IsLive(NodeId id) const {
    const Node& node = graph_->node(id);
    if (controls_.contains(id)) return true;
    for (ValueId output : node.outputs) {
      if (used_.contains(output)) return true;
    }
    return HasEffect(*graph_, id);
  }

  void MarkUses(NodeId id) {
    DropUnusedResults(id);
    const Node node = graph_->node(id);
    used_.insert(node.inputs.begin(), node.inputs.end());
    controls_.insert(node.control_inputs.begin(), node.control_inputs.end());
    if (const Attr* callee = node.FindAttr("callee")) called_.insert(callee->AsString());
    for (RegionId region : node.regions) Sweep(region);
  }

  // What a loop collects for nobody.
  void DropUnusedResults(NodeId id) {
    for (int i = static_cast<int>(graph_->node(id).outputs.size()) - 1; i >= 0; --i) {
      const Node& node = graph_->node(id);
      if (IsCollected(node, i) && !used_.contains(node.outputs[i])) RemoveCollected(graph_, id, i);
    }
  }

  Graph* graph_;
  absl::flat_hash_set<ValueId> used_;
  absl::flat_hash_set<NodeId> controls_;
  std::set<std::string> called_;
};

}  // namespace

absl::Status EliminateDeadCode(Graph* graph, const CompileOptions&, CompileReport*) {
  std::set<std::string> reached = {graph->entry().name};
  std::vector<std::string> work = {graph->entry().name};
  while (!work.empty()) {
    const Function* function = graph->FindFunction(work.back());
    work.pop_back();
    if (function == nullptr) continue;
    DeadCode dead(graph);
    dead.Sweep(function->body);
    for (const std::string& name : dead.called()) {
      if (reached.insert(name).second) work.push_back(name);
    }
  }
  std::vector<Function>& functions = graph->functions();
  functions.erase(std::remove_if(functions.begin(), functions.end(),
                                 [&](const Function& f) { return !reached.contains(f.name); }),
                  functions.end());
  return absl::OkStatus();
}

}  // namespace weir
