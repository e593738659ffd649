#include "common/ir/builder.h"

#include <utility>

#include "common/base/status.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

RegionId Outermost(const Graph& graph, RegionId region) {
  while (graph.region(region).parent.valid()) {
    region = graph.node(graph.region(region).parent).parent;
  }
  return region;
}

bool IsFunctionBody(const Graph& graph, RegionId region) {
  const Function* function = graph.FunctionOf(region);
  return function != nullptr && function->body == region;
}

// Captures of a detached region are checked when a node takes the region.
bool MayUse(const Graph& graph, RegionId region, ValueId value) {
  if (graph.Contains(graph.value(value).region, region)) return true;
  return !IsFunctionBody(graph, Outermost(graph, region));
}

std::string ValueText(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  return StrCat("%", v.name.empty() ? StrCat(value.value()) : v.name, " (", v.type.ToString(), ")");
}

absl::Status CheckUses(const Graph& graph, RegionId region, const std::vector<ValueId>& uses,
                       std::string_view what) {
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].value() < 0 || uses[i].value() >= graph.num_values()) {
      return InvalidArgument(what, " ", i, " is no value of this graph");
    }
    if (!MayUse(graph, region, uses[i])) {
      return InvalidArgument(what, " ", i, ", ", ValueText(graph, uses[i]),
                             ", belongs to a region that does not enclose this one");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRegions(const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.regions.size(); ++i) {
    const RegionId region = node.regions[i];
    if (region.value() < 0 || region.value() >= graph.num_regions()) {
      return InvalidArgument("region ", i, " is no region of this graph");
    }
    if (graph.region(region).parent.valid() || IsFunctionBody(graph, region)) {
      return InvalidArgument("region ", i, " already belongs to a node or a function");
    }
    for (size_t k = 0; k < i; ++k) {
      if (node.regions[k] == region) return InvalidArgument("region ", i, " is given twice");
    }
    if (graph.Contains(region, node.parent)) {
      return InvalidArgument("region ", i, " would contain itself");
    }
    WEIR_RETURN_IF_ERROR(Annotate(CheckUses(graph, node.parent, graph.Captures(region), "capture"),
                                  StrCat("region ", i)));
  }
  return absl::OkStatus();
}

std::string Describe(const Node& node) {
  std::string out = node.op;
  if (!node.name.empty()) StrAppend(&out, " \"", node.name, "\"");
  if (node.location.known()) StrAppend(&out, " (", node.location.ToString(), ")");
  return out;
}

absl::StatusOr<std::vector<TensorType>> CheckAndInfer(const Graph& graph, const OpCatalog& catalog,
                                                      const Node& node) {
  if (!catalog.Has(node.op)) return InvalidArgument("there is no op of this name");
  WEIR_RETURN_IF_ERROR(CheckUses(graph, node.parent, node.inputs, "input"));
  WEIR_RETURN_IF_ERROR(CheckRegions(graph, node));
  return catalog.Infer(graph, node);
}

}  // namespace

Builder::Builder(Graph* graph, RegionId region, const OpCatalog* catalog)
    : graph_(graph), region_(region), catalog_(catalog), context_(std::make_shared<Context>()) {}

Builder Builder::In(RegionId region) const {
  Builder inner = *this;
  inner.region_ = region;
  return inner;
}

ValueId Builder::AddArg(TensorType type, std::string name) {
  if (!ok()) return ValueId();
  return graph_->AddArg(region_, std::move(type), std::move(name));
}

ValueId Builder::Apply(std::string op, std::vector<ValueId> inputs, Attrs attrs,
                       std::vector<RegionId> regions) {
  const std::string op_name = op;
  const std::vector<ValueId> outputs =
      ApplyAll(std::move(op), std::move(inputs), std::move(attrs), std::move(regions));
  if (!ok()) return ValueId();
  if (outputs.size() != 1) {
    Fail(InvalidArgument(op_name, " has ", outputs.size(),
                         " outputs where one is wanted; ask for all of them"));
    return ValueId();
  }
  return outputs[0];
}

std::vector<ValueId> Builder::ApplyAll(std::string op, std::vector<ValueId> inputs, Attrs attrs,
                                       std::vector<RegionId> regions) {
  if (!ok()) return {};
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.regions = std::move(regions);
  node.name = context_->name;
  node.location = context_->location;
  node.parent = region_;
  absl::StatusOr<std::vector<TensorType>> types = CheckAndInfer(*graph_, *catalog_, node);
  if (!types.ok()) {
    Fail(Annotate(types.status(), Describe(node)));
    return {};
  }
  const NodeId id = graph_->AddNode(region_, std::move(node.op), std::move(node.inputs),
                                    std::move(node.attrs), *types, std::move(node.regions));
  graph_->node(id).name = std::move(node.name);
  graph_->node(id).location = std::move(node.location);
  return graph_->node(id).outputs;
}

ValueId Builder::Constant(Tensor value) {
  return Apply("constant", {}, {{"value", std::move(value)}});
}

void Builder::Yield(std::vector<ValueId> results) {
  if (!ok()) return;
  absl::Status status = CheckUses(*graph_, region_, results, "result");
  if (!status.ok()) return Fail(std::move(status));
  for (Function& function : graph_->functions()) {
    if (function.body == region_) function.result_names.resize(results.size());
  }
  graph_->region(region_).results = std::move(results);
}

TensorType Builder::type(ValueId value) const {
  if (value.value() < 0 || value.value() >= graph_->num_values()) return TensorType();
  return graph_->type(value);
}

void Builder::Fail(absl::Status status) {
  if (ok()) context_->status = std::move(status);
}

}  // namespace weir
