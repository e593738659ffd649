#include "common/ir/verify.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

// Annotate for contexts that are costly to write and rarely needed.
template <class Context>
absl::Status AnnotateWith(absl::Status status, Context context) {
  return status.ok() ? status : Annotate(status, context());
}

// Walks every function once and follows no id that it has not checked.
class StructureChecker {
 public:
  explicit StructureChecker(const Graph& graph)
      : graph_(graph),
        values_(graph.num_values(), ValueState::kUndefined),
        nodes_seen_(graph.num_nodes(), false),
        nodes_done_(graph.num_nodes(), false),
        regions_seen_(graph.num_regions(), false) {}

  absl::Status Run() {
    if (graph_.functions().empty()) return InvalidArgument("the program has no function");
    absl::flat_hash_set<std::string_view> names;
    for (const Function& function : graph_.functions()) {
      if (function.name.empty()) return InvalidArgument("a function has no name");
      if (!names.insert(function.name).second) {
        return InvalidArgument("function @", function.name, " is defined twice");
      }
      WEIR_RETURN_IF_ERROR(AnnotateWith(CheckFunction(function),
                                        [&] { return StrCat("function @", function.name); }));
    }
    return absl::OkStatus();
  }

  // In an order in which inner nodes come before their owner.
  const std::vector<NodeId>& nodes() const { return order_; }

 private:
  enum class ValueState : uint8_t { kUndefined, kVisible, kOutOfScope };

  bool Exists(ValueId id) const { return id.value() >= 0 && id.value() < graph_.num_values(); }
  bool Exists(NodeId id) const { return id.value() >= 0 && id.value() < graph_.num_nodes(); }
  bool Exists(RegionId id) const { return id.value() >= 0 && id.value() < graph_.num_regions(); }

  absl::Status CheckFunction(const Function& function) {
    if (!Exists(function.body)) return InvalidArgument("its body is no region of the graph");
    WEIR_RETURN_IF_ERROR(CheckRegion(function.body, NodeId(), 0));
    const size_t results = graph_.region(function.body).results.size();
    if (function.result_names.size() != results) {
      return InvalidArgument("it has ", results, " results but ", function.result_names.size(),
                             " result names");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRegion(RegionId id, NodeId owner, int depth) {
    if (regions_seen_[id.value()]) return InvalidArgument("a region is used in two places");
    regions_seen_[id.value()] = true;
    const Region& region = graph_.region(id);
    if (region.parent != owner) {
      return InvalidArgument("a region does not name the node that holds it as its parent");
    }
    if (depth > kMaxRegionDepth) {
      return InvalidArgument("regions are nested deeper than ", kMaxRegionDepth);
    }
    for (size_t i = 0; i < region.args.size(); ++i) {
      WEIR_RETURN_IF_ERROR(AnnotateWith(Define(region.args[i], NodeId(), id, i),
                                        [&] { return StrCat("argument ", i); }));
    }
    for (NodeId node : region.nodes) {
      if (!Exists(node)) return InvalidArgument("a region lists a node that does not exist");
      if (nodes_seen_[node.value()]) {
        return InvalidArgument(DescribeNode(node), ": the node is listed twice");
      }
      nodes_seen_[node.value()] = true;
      WEIR_RETURN_IF_ERROR(
          AnnotateWith(CheckNode(node, id, depth), [&] { return DescribeNode(node); }));
      nodes_done_[node.value()] = true;
      order_.push_back(node);
    }
    for (size_t i = 0; i < region.results.size(); ++i) {
      WEIR_RETURN_IF_ERROR(
          AnnotateWith(Use(region.results[i]), [&] { return StrCat("result ", i); }));
    }
    Leave(region);
    return absl::OkStatus();
  }

  absl::Status CheckNode(NodeId id, RegionId parent, int depth) {
    const Node& node = graph_.node(id);
    if (node.parent != parent) {
      return InvalidArgument("the node does not name the region that lists it as its parent");
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      WEIR_RETURN_IF_ERROR(AnnotateWith(Use(node.inputs[i]), [&] { return StrCat("input ", i); }));
    }
    for (NodeId before : node.control_inputs) {
      WEIR_RETURN_IF_ERROR(CheckControlInput(before, parent));
    }
    for (size_t i = 0; i < node.regions.size(); ++i) {
      const RegionId inner = node.regions[i];
      if (!Exists(inner)) return InvalidArgument("region ", i, " does not exist");
      WEIR_RETURN_IF_ERROR(
          AnnotateWith(CheckRegion(inner, id, depth + 1), [&] { return StrCat("region ", i); }));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      WEIR_RETURN_IF_ERROR(AnnotateWith(Define(node.outputs[i], id, parent, i),
                                        [&] { return StrCat("output ", i); }));
    }
    return absl::OkStatus();
  }

  absl::Status CheckControlInput(NodeId before, RegionId parent) const {
    if (!Exists(before)) return InvalidArgument("a control input is a node that does not exist");
    if (graph_.node(before).parent != parent) {
      return InvalidArgument("control input ", DescribeNode(before), " is in another region");
    }
    if (!nodes_done_[before.value()]) {
      return InvalidArgument("control input ", DescribeNode(before), " does not come before it");
    }
    return absl::OkStatus();
  }

  absl::Status Define(ValueId id, NodeId producer, RegionId region, size_t index) {
    if (!Exists(id)) return InvalidArgument("the value does not exist");
    const Value& value = graph_.value(id);
    if (values_[id.value()] != ValueState::kUndefined) {
      return InvalidArgument(ValueText(id), " is produced twice");
    }
    if (value.producer != producer || value.region != region ||
        value.index != static_cast<int>(index)) {
      return InvalidArgument(ValueText(id), " names another producer");
    }
    WEIR_RETURN_IF_ERROR(AnnotateWith(CheckType(value.type), [&] { return ValueText(id); }));
    values_[id.value()] = ValueState::kVisible;
    return absl::OkStatus();
  }

  absl::Status Use(ValueId id) const {
    if (!Exists(id)) return InvalidArgument("the value does not exist");
    switch (values_[id.value()]) {
      case ValueState::kVisible:
        return absl::OkStatus();
      case ValueState::kUndefined:
        return InvalidArgument(ValueText(id), " is used before it is produced");
      case ValueState::kOutOfScope:
        return InvalidArgument(ValueText(id), " belongs to a region that does not enclose its use");
    }
    return absl::OkStatus();
  }

  void Leave(const Region& region) {
    for (ValueId arg : region.args) values_[arg.value()] = ValueState::kOutOfScope;
    for (NodeId node : region.nodes) {
      for (ValueId output : graph_.node(node).outputs) {
        values_[output.value()] = ValueState::kOutOfScope;
      }
    }
  }

  std::string ValueText(ValueId id) const {
    const Value& value = graph_.value(id);
    return StrCat("%", value.name.empty() ? StrCat(id.value()) : value.name, " (",
                  value.type.ToString(), ")");
  }

  // Graph::Describe looks up an output, which may not exist here.
  std::string DescribeNode(NodeId id) const {
    const Node& node = graph_.node(id);
    const bool outputs_exist = std::all_of(node.outputs.begin(), node.outputs.end(),
                                           [this](ValueId value) { return Exists(value); });
    return outputs_exist ? graph_.Describe(id) : StrCat(node.op, " #", id.value());
  }

  const Graph& graph_;
  std::vector<ValueState> values_;
  std::vector<bool> nodes_seen_;
  std::vector<bool> nodes_done_;
  std::vector<bool> regions_seen_;
  std::vector<NodeId> order_;
};

}  // namespace

absl::Status CheckType(const TensorType& type) {
  Extents known;
  for (const Dim& dim : type.shape.dims()) {
    if (!dim.is_number()) continue;
    if (dim.number() < 0) {
      return InvalidArgument("extent ", dim.number(), " in ", type.ToString(), " is negative");
    }
    known.push_back(dim.number());
  }
  absl::StatusOr<int64_t> elements = CheckedNumElements(known, type.dtype);
  if (!elements.ok()) {
    return InvalidArgument(type.ToString(), ": ", elements.status().message());
  }
  return absl::OkStatus();
}

std::string TypesToString(const Graph& graph, absl::Span<const ValueId> values) {
  return absl::StrJoin(values, ", ", [&graph](std::string* out, ValueId value) {
    out->append(graph.type(value).ToString());
  });
}

absl::Status CheckOutputTypes(const Graph& graph, const Node& node, const OpCatalog& catalog) {
  if (!catalog.Has(node.op)) return InvalidArgument("unknown op '", node.op, "'");
  const absl::StatusOr<std::vector<TensorType>> types = catalog.Infer(graph, node);
  const auto context = [&]() -> std::string {
    if (node.inputs.empty()) return "";
    return StrCat(" (inputs ", TypesToString(graph, node.inputs), ")");
  };
  if (!types.ok()) return InvalidArgument(types.status().message(), context());
  if (types->size() != node.outputs.size()) {
    return InvalidArgument("it has ", node.outputs.size(), " outputs where the op gives ",
                           types->size(), context());
  }
  for (size_t i = 0; i < types->size(); ++i) {
    const TensorType& recorded = graph.type(node.outputs[i]);
    if (recorded == (*types)[i]) continue;
    return InvalidArgument("output ", i, " has type ", recorded.ToString(), " where the op gives ",
                           (*types)[i].ToString(), context());
  }
  return absl::OkStatus();
}

// Types come second because inference may look at another function, which must be sound by then.
absl::Status Verify(const Graph& graph, const OpCatalog& catalog) {
  StructureChecker checker(graph);
  WEIR_RETURN_IF_ERROR(checker.Run());
  for (NodeId id : checker.nodes()) {
    WEIR_RETURN_IF_ERROR(AnnotateWith(CheckOutputTypes(graph, graph.node(id), catalog),
                                      [&] { return graph.Describe(id); }));
  }
  return absl::OkStatus();
}

}  // namespace weir
