#include "server/flows/pipelined/flow_writer.h"

#include <algorithm>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// Copies nodes into a function, and what they use of constants in front of them.
class FunctionCopy {
 public:
  FunctionCopy(const Graph& source, Graph* target, RegionId body)
      : source_(source), target_(target), body_(body) {}

  void AddColumn(ValueId value) {
    const TensorType type = source_.type(value);
    map_[value] = target_->AddArg(body_, type, source_.value(value).name);
  }

  void AddNode(NodeId id) {
    const Node& node = source_.node(id);
    for (const ValueId input : node.inputs) Of(input);
    for (const RegionId region : node.regions) {
      for (const ValueId captured : source_.Captures(region)) Of(captured);
    }
    CloneNode(source_, id, target_, body_, &map_, &nodes_);
  }

  ValueId Of(ValueId value) {
    if (!map_.contains(value)) AddNode(source_.value(value).producer);
    return map_.at(value);
  }

 private:
  const Graph& source_;
  Graph* const target_;
  const RegionId body_;
  ValueMap map_;
  absl::flat_hash_map<NodeId, NodeId> nodes_;
};

}  // namespace

FlowPort FlowWriter::Add(std::string_view kind, std::vector<FlowPort> inputs, Attrs attrs) {
  FlowVertex vertex;
  do {
    vertex.name = StrCat(vertex_.name, ".", kind, ++numbers_[std::string(kind)]);
  } while (flow_->FindVertex(vertex.name).valid());
  vertex.kind = kind;
  vertex.inputs = std::move(inputs);
  vertex.attrs = std::move(attrs);
  vertex.location = location_;
  flow_->vertices.push_back(std::move(vertex));
  return {VertexId(static_cast<int64_t>(flow_->vertices.size()) - 1), 0};
}

FlowPort FlowWriter::AddMap(FlowPort input, const std::string& function) {
  Attrs attrs = {{"function", function}};
  if (const Attr* on_failure = vertex_.FindAttr("on_failure")) {
    attrs.emplace("on_failure", *on_failure);
  }
  return Add("map", {input}, std::move(attrs));
}

ScopeId FlowWriter::AddLoop(ScopeId around) {
  FlowLoop loop{.parent = around};
  const auto is_taken = [&](const FlowLoop& other) { return other.name == loop.name; };
  do {
    loop.name = StrCat(vertex_.name, ".loop", ++numbers_["loop"]);
  } while (std::any_of(flow_->loops.begin(), flow_->loops.end(), is_taken));
  flow_->loops.push_back(std::move(loop));
  return ScopeId(static_cast<int64_t>(flow_->loops.size()));
}

std::string FlowWriter::AddFunction(const Graph& source, const std::vector<ValueId>& columns,
                                    const std::vector<NodeId>& nodes,
                                    const std::vector<ValueId>& values) {
  std::string name;
  do {
    name = StrCat(vertex_.attr("function").AsString(), ".", ++numbers_["function"]);
  } while (functions_->FindFunction(name) != nullptr);
  const RegionId body = functions_->AddFunction(name).body;
  functions_->functions().back().result_names.resize(values.size());
  FunctionCopy copy(source, functions_, body);
  for (const ValueId column : columns) copy.AddColumn(column);
  for (const NodeId node : nodes) copy.AddNode(node);
  std::vector<ValueId> results;
  for (const ValueId value : values) results.push_back(copy.Of(value));
  functions_->region(body).results = std::move(results);
  return name;
}

}  // namespace weir
