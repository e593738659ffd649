#include "common/ir/graph.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

// Collects what a tree of regions uses from outside of it.
class CaptureFinder {
 public:
  explicit CaptureFinder(const Graph& graph) : graph_(graph) {}

  void Visit(RegionId id) {
    inside_.insert(id);
    const Region& region = graph_.region(id);
    for (NodeId node_id : region.nodes) {
      const Node& node = graph_.node(node_id);
      for (ValueId input : node.inputs) Use(input);
      for (RegionId inner : node.regions) Visit(inner);
    }
    for (ValueId result : region.results) Use(result);
  }

  std::vector<ValueId> Take() { return std::move(captures_); }

 private:
  void Use(ValueId value) {
    if (inside_.contains(graph_.value(value).region)) return;
    if (seen_.insert(value).second) captures_.push_back(value);
  }

  const Graph& graph_;
  absl::flat_hash_set<RegionId> inside_;
  absl::flat_hash_set<ValueId> seen_;
  std::vector<ValueId> captures_;
};

}  // namespace

std::string Location::ToString() const {
  if (line <= 0) return file;
  if (column <= 0) return StrCat(file, ":", line);
  return StrCat(file, ":", line, ":", column);
}

const Attr* Node::FindAttr(std::string_view name) const {
  auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : &it->second;
}

const Attr& Node::attr(std::string_view name) const { return attrs.find(name)->second; }

const Function* Graph::FindFunction(std::string_view name) const {
  for (const Function& function : functions_) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

Function& Graph::AddFunction(std::string name) {
  const RegionId body = AddRegion();
  functions_.push_back({std::move(name), body, {}});
  return functions_.back();
}

RegionId Graph::AddRegion() {
  regions_.emplace_back();
  return RegionId(num_regions() - 1);
}

ValueId Graph::AddArg(RegionId region, TensorType type, std::string name) {
  const ValueId id(num_values());
  std::vector<ValueId>& args = this->region(region).args;
  values_.push_back(
      {std::move(type), std::move(name), NodeId(), region, static_cast<int>(args.size())});
  args.push_back(id);
  return id;
}

NodeId Graph::AddNode(RegionId parent, std::string op, std::vector<ValueId> inputs, Attrs attrs,
                      absl::Span<const TensorType> output_types, std::vector<RegionId> regions) {
  const NodeId id(num_nodes());
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.parent = parent;
  node.outputs.reserve(output_types.size());
  for (size_t i = 0; i < output_types.size(); ++i) {
    node.outputs.push_back(ValueId(num_values()));
    values_.push_back({output_types[i], "", id, parent, static_cast<int>(i)});
  }
  for (RegionId inner : regions) region(inner).parent = id;
  node.regions = std::move(regions);
  nodes_.push_back(std::move(node));
  region(parent).nodes.push_back(id);
  return id;
}

ValueId Graph::InsertOutput(NodeId node, int at, TensorType type) {
  const ValueId id(num_values());
  std::vector<ValueId>& outputs = this->node(node).outputs;
  values_.push_back({std::move(type), "", node, this->node(node).parent, at});
  outputs.insert(outputs.begin() + at, id);
  for (size_t i = at + 1; i < outputs.size(); ++i) value(outputs[i]).index = static_cast<int>(i);
  return id;
}

const Node* Graph::producer(ValueId value) const {
  const NodeId id = this->value(value).producer;
  return id.valid() ? &node(id) : nullptr;
}

void Graph::ReplaceUses(ValueId from, ValueId to) { ReplaceUses({{from, to}}); }

void Graph::ReplaceUses(const absl::flat_hash_map<ValueId, ValueId>& replacements) {
  if (replacements.empty()) return;
  absl::flat_hash_map<ValueId, ValueId> final_value;
  final_value.reserve(replacements.size());
  std::vector<ValueId> chain;
  for (const auto& entry : replacements) {
    ValueId end = entry.first;
    chain.clear();
    while (!final_value.contains(end)) {
      auto next = replacements.find(end);
      if (next == replacements.end()) break;
      chain.push_back(end);
      end = next->second;
    }
    if (auto known = final_value.find(end); known != final_value.end()) end = known->second;
    for (ValueId link : chain) final_value[link] = end;
  }
  auto replace = [&final_value](std::vector<ValueId>& uses) {
    for (ValueId& use : uses) {
      if (auto it = final_value.find(use); it != final_value.end()) use = it->second;
    }
  };
  for (Node& node : nodes_) replace(node.inputs);
  for (Region& region : regions_) replace(region.results);
}

bool Graph::Contains(RegionId outer, RegionId inner) const {
  while (inner != outer) {
    const NodeId owner = region(inner).parent;
    if (!owner.valid()) return false;
    inner = node(owner).parent;
  }
  return true;
}

std::vector<ValueId> Graph::Captures(RegionId region) const {
  CaptureFinder finder(*this);
  finder.Visit(region);
  return finder.Take();
}

const Function* Graph::FunctionOf(RegionId region) const {
  while (this->region(region).parent.valid()) region = node(this->region(region).parent).parent;
  for (const Function& function : functions_) {
    if (function.body == region) return &function;
  }
  return nullptr;
}

std::string Graph::Describe(NodeId id) const {
  const Node& node = this->node(id);
  std::string out = node.op;
  if (!node.name.empty()) {
    StrAppend(&out, " \"", node.name, "\"");
  } else if (!node.outputs.empty() && !value(node.outputs[0]).name.empty()) {
    StrAppend(&out, " %", value(node.outputs[0]).name);
  } else if (!node.location.known()) {
    StrAppend(&out, " #", id.value());
  }
  if (node.location.known()) StrAppend(&out, " (", node.location.ToString(), ")");
  return out;
}

}  // namespace weir
