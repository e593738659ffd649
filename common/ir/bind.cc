#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/order.h"
#include "common/ir/syntax.h"

namespace weir {
namespace {

class Binder {
 public:
  explicit Binder(const ParseOptions& options) : options_(options) {}

  absl::Status BindRegion(RegionSyntax* region) {
    const size_t level = levels_.size();
    levels_.emplace_back();
    WEIR_RETURN_IF_ERROR(DefineAll(*region));
    for (size_t i = 0; i < region->nodes.size(); ++i) {
      levels_[level].current = static_cast<int>(i);
      WEIR_RETURN_IF_ERROR(BindNode(&region->nodes[i]));
    }
    levels_[level].current = kNoNode;
    for (UseSyntax& result : region->results) WEIR_RETURN_IF_ERROR(BindValue(&result));
    Ordering ordering = StableOrder(static_cast<int>(region->nodes.size()), levels_[level].edges);
    if (!ordering.cycle.empty()) return CycleError(*region, ordering.cycle);
    region->order = std::move(ordering.order);
    RemoveAll(*region);
    levels_.pop_back();
    return absl::OkStatus();
  }

 private:
  static constexpr int kNoNode = -1;

  struct Definition {
    const DefinitionSyntax* syntax = nullptr;
    const NodeSyntax* node = nullptr;  // null for an argument
    size_t level = 0;
    int index = kNoNode;  // of the node in its region
  };
  // One for each region around the place that is being bound.
  struct Level {
    int current = kNoNode;
    std::vector<OrderEdge> edges;
  };

  absl::Status BindNode(NodeSyntax* node) {
    for (UseSyntax& input : node->inputs) WEIR_RETURN_IF_ERROR(BindValue(&input));
    for (UseSyntax& before : node->control_inputs) WEIR_RETURN_IF_ERROR(BindControl(&before));
    for (RegionSyntax& region : node->regions) WEIR_RETURN_IF_ERROR(BindRegion(&region));
    return absl::OkStatus();
  }

  absl::Status BindValue(UseSyntax* use) {
    if (use->name[0] == '!') {
      return SyntaxError(options_, use->position,
                         StrCat(use->name, " is a label, which stands only in after(...)"));
    }
    WEIR_ASSIGN_OR_RETURN(const Definition definition, Find(*use));
    use->value = definition.syntax;
    AddDependency(definition);
    return absl::OkStatus();
  }

  absl::Status BindControl(UseSyntax* use) {
    WEIR_ASSIGN_OR_RETURN(const Definition definition, Find(*use));
    if (definition.node == nullptr || definition.level + 1 != levels_.size()) {
      return SyntaxError(
          options_, use->position,
          StrCat("after(", WrittenName(use->name), ") names no node of the same region"));
    }
    use->node = definition.node;
    AddDependency(definition);
    return absl::OkStatus();
  }

  absl::StatusOr<Definition> Find(const UseSyntax& use) const {
    auto it = scope_.find(use.name);
    if (it != scope_.end()) return it->second;
    return SyntaxError(options_, use.position, StrCat(WrittenName(use.name), " is not defined"));
  }

  // What is used inside a region has to come before the node that owns the region.
  void AddDependency(const Definition& definition) {
    Level& level = levels_[definition.level];
    if (definition.index == kNoNode || level.current == kNoNode) return;
    level.edges.push_back({definition.index, level.current});
  }

  absl::Status DefineAll(const RegionSyntax& region) {
    for (const DefinitionSyntax& arg : region.args) {
      WEIR_RETURN_IF_ERROR(Define(arg, nullptr, kNoNode));
    }
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      const NodeSyntax& node = region.nodes[i];
      for (const DefinitionSyntax& output : node.outputs) {
        WEIR_RETURN_IF_ERROR(Define(output, &node, static_cast<int>(i)));
      }
      for (const DefinitionSyntax& label : node.label) {
        WEIR_RETURN_IF_ERROR(Define(label, &node, static_cast<int>(i)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Define(const DefinitionSyntax& syntax, const NodeSyntax* node, int index) {
    const Definition definition = {&syntax, node, levels_.size() - 1, index};
    const auto [it, is_new] = scope_.try_emplace(syntax.name, definition);
    if (is_new) return absl::OkStatus();
    const Position first = it->second.syntax->position;
    return SyntaxError(options_, syntax.position,
                       StrCat(syntax.name[0] == '!' ? "label " : "value ", WrittenName(syntax.name),
                              " is defined twice (first at ", first.line, ":", first.column, ")"));
  }

  void RemoveAll(const RegionSyntax& region) {
    for (const DefinitionSyntax& arg : region.args) scope_.erase(arg.name);
    for (const NodeSyntax& node : region.nodes) {
      for (const DefinitionSyntax& output : node.outputs) scope_.erase(output.name);
      for (const DefinitionSyntax& label : node.label) scope_.erase(label.name);
    }
  }

  absl::Status CycleError(const RegionSyntax& region, const std::vector<int>& cycle) const {
    constexpr size_t kShown = 16;
    std::string path;
    for (size_t i = 0; i < cycle.size() && i < kShown; ++i) {
      const NodeSyntax& node = region.nodes[cycle[i]];
      StrAppend(&path, NodeName(node), " (line ", node.position.line, ") -> ");
    }
    if (cycle.size() > kShown) StrAppend(&path, "... ", cycle.size() - kShown, " more ... -> ");
    const NodeSyntax& first = region.nodes[cycle[0]];
    return SyntaxError(options_, first.position, StrCat("cycle: ", path, NodeName(first)));
  }

  static std::string NodeName(const NodeSyntax& node) {
    if (!node.outputs.empty()) return WrittenName(node.outputs[0].name);
    if (!node.label.empty()) return node.label[0].name;
    return node.op;
  }

  const ParseOptions& options_;
  absl::flat_hash_map<std::string_view, Definition> scope_;
  std::vector<Level> levels_;
};

}  // namespace

absl::Status BindNames(FunctionSyntax* function, const ParseOptions& options) {
  return Binder(options).BindRegion(&function->body);
}

}  // namespace weir
