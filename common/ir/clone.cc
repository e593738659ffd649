#include "common/ir/clone.h"

#include <string>
#include <utility>

namespace weir {
namespace {

std::vector<ValueId> Renamed(const std::vector<ValueId>& values, const ValueMap& map) {
  std::vector<ValueId> out;
  out.reserve(values.size());
  for (ValueId value : values) {
    auto it = map.find(value);
    out.push_back(it == map.end() ? value : it->second);
  }
  return out;
}

void CloneArgs(const Graph& source, RegionId region, Graph* target, RegionId copy, ValueMap* map) {
  const std::vector<ValueId> args = source.region(region).args;
  for (ValueId arg : args) {
    const Value value = source.value(arg);
    (*map)[arg] = target->AddArg(copy, value.type, value.name);
  }
}

}  // namespace

// Source and target may be one graph whose tables grow here, so nothing is held by reference while
// something is added.
NodeId CloneNode(const Graph& source, NodeId id, Graph* target, RegionId parent, ValueMap* map,
                 absl::flat_hash_map<NodeId, NodeId>* nodes) {
  const Node node = source.node(id);
  std::vector<TensorType> types;
  std::vector<std::string> names;
  for (ValueId output : node.outputs) {
    types.push_back(source.type(output));
    names.push_back(source.value(output).name);
  }
  const NodeId copy =
      target->AddNode(parent, node.op, Renamed(node.inputs, *map), node.attrs, types);
  const std::vector<ValueId> outputs = target->node(copy).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    target->value(outputs[i]).name = std::move(names[i]);
    (*map)[node.outputs[i]] = outputs[i];
  }
  std::vector<NodeId> control_inputs;
  for (NodeId before : node.control_inputs) {
    if (auto it = nodes->find(before); it != nodes->end()) control_inputs.push_back(it->second);
  }
  (*nodes)[id] = copy;
  std::vector<RegionId> regions;
  for (RegionId region : node.regions) {
    regions.push_back(CloneRegion(source, region, target, map));
    target->region(regions.back()).parent = copy;
  }
  Node& out = target->node(copy);
  out.control_inputs = std::move(control_inputs);
  out.regions = std::move(regions);
  out.name = node.name;
  out.location = node.location;
  return copy;
}

std::vector<ValueId> CloneRegionBody(const Graph& source, RegionId region, Graph* target,
                                     RegionId parent, ValueMap* map) {
  const std::vector<NodeId> originals = source.region(region).nodes;
  absl::flat_hash_map<NodeId, NodeId> nodes;
  for (NodeId id : originals) CloneNode(source, id, target, parent, map, &nodes);
  return Renamed(source.region(region).results, *map);
}

RegionId CloneRegion(const Graph& source, RegionId region, Graph* target, ValueMap* map) {
  const RegionId copy = target->AddRegion();
  CloneArgs(source, region, target, copy, map);
  std::vector<ValueId> results = CloneRegionBody(source, region, target, copy, map);
  target->region(copy).results = std::move(results);
  return copy;
}

Graph Compact(const Graph& graph) {
  Graph out;
  ValueMap map;
  for (const Function& function : graph.functions()) {
    const RegionId body = out.AddFunction(function.name).body;
    out.functions().back().result_names = function.result_names;
    CloneArgs(graph, function.body, &out, body, &map);
    std::vector<ValueId> results = CloneRegionBody(graph, function.body, &out, body, &map);
    out.region(body).results = std::move(results);
  }
  return out;
}

}  // namespace weir
