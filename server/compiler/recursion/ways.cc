#include "server/compiler/recursion/ways.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// Rows of other blocks run it too, so that only what costs about as much as moving an operand into
// a branch is worth it.
constexpr int kMaxCost = 2;

// Moves arithmetic of one block to the front.
class Speculation {
 public:
  Speculation(const BlockTree& block, Builder& front)
      : front_(front.region()), graph_(&front.graph()) {
    Enter(block);
    Move(block);
  }

 private:
  void Enter(const BlockTree& tree) {
    inside_.insert(tree.region);
    for (NodeId id : graph_->region(tree.region).nodes) {
      const std::vector<NodeId>& before = graph_->node(id).control_inputs;
      waited_for_.insert(before.begin(), before.end());
    }
    for (const auto& way : tree.ways) Enter(*way);
  }

  void Move(const BlockTree& tree) {
    std::vector<NodeId> left;
    for (NodeId id : std::exchange(graph_->region(tree.region).nodes, {})) {
      if (MayMove(id)) {
        MoveToFront(id);
      } else {
        left.push_back(id);
      }
    }
    graph_->region(tree.region).nodes = std::move(left);
    for (const auto& way : tree.ways) Move(*way);
  }

  bool MayMove(NodeId id) const {
    const Node& node = graph_->node(id);
    const OpDef* op = FindOp(node.op);
    if (op == nullptr || !op->elementwise.has_value() || op->elementwise->cost > kMaxCost ||
        !node.control_inputs.empty() || waited_for_.contains(id) ||
        graph_->type(node.outputs[0]).rank() > 0) {
      return false;
    }
    return std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return inside_.contains(graph_->value(input).region);
    });
  }

  void MoveToFront(NodeId id) {
    graph_->node(id).parent = front_;
    for (ValueId output : graph_->node(id).outputs) graph_->value(output).region = front_;
    graph_->region(front_).nodes.push_back(id);
  }

  const RegionId front_;
  Graph* const graph_;
  absl::flat_hash_set<RegionId> inside_;
  absl::flat_hash_set<NodeId> waited_for_;
};

// A row of way `number` goes the first of the tree's ways instead, or a later one, which are
// numbered from `next` on.
ValueId GoOn(const BlockTree& tree, ValueId way, int64_t number, int64_t next, Builder& front) {
  const ValueId here = front.Apply("equal", {way, front.Scalar(number)});
  if (tree.choice == "if") {
    const ValueId second = front.Apply("and", {here, front.Apply("not", {tree.selector})});
    return front.Apply("select", {second, front.Scalar(next), way});
  }
  const auto count = static_cast<int64_t>(tree.ways.size());
  if (count == 1) return way;
  const ValueId chosen = Cast(front, tree.selector, DType::kI64);
  const ValueId last = front.Scalar(count - 1);  // is chosen by what is out of range, too
  const ValueId inside = front.Apply(
      "select", {Binary(front, "less", chosen, 0), last, front.Apply("minimum", {chosen, last})});
  const ValueId other = front.Apply("and", {here, Binary(front, "not_equal", chosen, 0)});
  return front.Apply("select", {other, front.Apply("add", {inside, front.Scalar(next - 1)}), way});
}

}  // namespace

Ways FindWays(const std::vector<std::unique_ptr<BlockTree>>& blocks, ValueId block,
              Builder& front) {
  Ways ways{{}, block};
  for (const auto& tree : blocks) {
    ways.trees.push_back(tree.get());
    Speculation(*tree, front);
  }
  for (size_t i = 0; i < ways.trees.size(); ++i) {
    // What decides is in front, as nothing is left in the tree.
    while (!ways.trees[i]->choice.empty() &&
           front.graph().region(ways.trees[i]->region).nodes.empty()) {
      const BlockTree& tree = *ways.trees[i];
      const auto next = static_cast<int64_t>(ways.trees.size());
      front.SetLocation(tree.location);
      ways.number = GoOn(tree, ways.number, static_cast<int64_t>(i), next, front);
      ways.trees[i] = tree.ways[0].get();
      for (size_t k = 1; k < tree.ways.size(); ++k) ways.trees.push_back(tree.ways[k].get());
    }
  }
  return ways;
}

}  // namespace weir
