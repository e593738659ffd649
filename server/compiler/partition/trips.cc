#include "server/compiler/partition/trips.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

bool IsLoop(const Node& node) { return node.op == "while" || node.op == "for"; }

// A counted loop on its way to become a `while`.
class Counted {
 public:
  Counted(Graph* graph, NodeId id, RegionId parent)
      : graph_(graph), node_(graph->node(id)), outside_(graph, parent, &Ops()) {
    outside_.SetLocation(node_.location);
    outside_.SetName(node_.name);
  }

  // Appends the `while` to the parent and puts its outputs in place of the loop's.
  absl::StatusOr<NodeId> Lower() {
    const ValueId count = node_.inputs[0];
    std::vector<ValueId> initial = {outside_.Scalar<int64_t>(0)};
    initial.insert(initial.end(), node_.inputs.begin() + 1, node_.inputs.end());
    AddCollected(count, &initial);
    Builder condition = outside_.In(outside_.NewRegion());
    for (ValueId value : initial) condition.AddArg(graph_->type(value));
    const ValueId number = graph_->region(condition.region()).args[0];
    condition.Yield({condition.Apply("less", {number, count})});
    const RegionId body = MakeBody();
    const std::vector<ValueId> made =
        outside_.ApplyAll("while", initial, {}, {condition.region(), body});
    WEIR_RETURN_IF_ERROR(outside_.status());
    absl::flat_hash_map<ValueId, ValueId> replacements;
    for (size_t k = 0; k < node_.outputs.size(); ++k) {
      replacements.emplace(node_.outputs[k], made[k + 1]);
      graph_->value(made[k + 1]).name = graph_->value(node_.outputs[k]).name;
    }
    graph_->ReplaceUses(replacements);
    return graph_->region(outside_.region()).nodes.back();
  }

 private:
  size_t num_carried() const { return node_.inputs.size() - 1; }

  // Room for what each trip gives. As a `for`, it must make as many trips as there is room for.
  void AddCollected(ValueId count, std::vector<ValueId>* initial) {
    const Attr* extent = node_.FindAttr("extent");
    if (extent == nullptr) return;
    const Dim& trips = extent->AsDims()[0];
    const ValueId made = outside_.Apply("maximum", {count, outside_.Scalar<int64_t>(0)});
    outside_.ApplyAll("check", {outside_.Apply("equal", {made, DimValue(outside_, trips)})},
                      {{"message", StrCat("the trip count is not ", trips.ToString(),
                                          ", the extent of what the loop collects")}});
    for (size_t k = num_carried(); k < node_.outputs.size(); ++k) {
      const TensorType type = graph_->type(node_.outputs[k]);
      initial->push_back(Full(outside_, type.dtype, type.shape.dims(), 0));
    }
  }

  // The loop's region, which counts and writes what it collects to its place.
  RegionId MakeBody() {
    ValueMap map;
    const RegionId body = CloneRegion(*graph_, node_.regions[0], graph_, &map);
    Builder inside = outside_.In(body);
    const ValueId number = graph_->region(body).args[0];
    const std::vector<ValueId> results = graph_->region(body).results;
    std::vector<ValueId> next = {inside.Apply("add", {number, inside.Scalar<int64_t>(1)})};
    next.insert(next.end(), results.begin(), results.begin() + num_carried());
    for (size_t k = num_carried(); k < results.size(); ++k) {
      const ValueId all = inside.AddArg(graph_->type(node_.outputs[k]));
      std::vector<ValueId> operands = {all, ExpandDims(inside, results[k], {0}), number};
      operands.resize(2 + graph_->type(all).rank(), inside.Scalar<int64_t>(0));
      next.push_back(inside.Apply("dynamic_update_slice", std::move(operands)));
    }
    inside.Yield(std::move(next));
    return body;
  }

  Graph* graph_;
  const Node node_;  // a copy: building moves the graph's tables
  Builder outside_;
};

class CountedLoops {
 public:
  explicit CountedLoops(Graph* graph) : graph_(graph) {}

  // Rebuilds the node list of a region, loops inside of others first.
  absl::Status Rewrite(RegionId region) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      if (!HoldsShards(*graph_, id)) {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Rewrite(r));
      if (graph_->node(id).op == "while") {
        graph_->region(region).nodes.push_back(id);
        continue;
      }
      absl::StatusOr<NodeId> made = Counted(graph_, id, region).Lower();
      WEIR_RETURN_IF_ERROR(Annotate(made.status(), graph_->Describe(id)));
      origins_.emplace(*made, id);
    }
    return absl::OkStatus();
  }

  absl::flat_hash_map<NodeId, NodeId> TakeOrigins() { return std::move(origins_); }

 private:
  Graph* graph_;
  absl::flat_hash_map<NodeId, NodeId> origins_;
};

class SplitFinder {
 public:
  explicit SplitFinder(const Graph& graph) : graph_(graph) {}

  absl::flat_hash_set<ValueId> Find() {
    do {
      changed_ = false;
      Visit(graph_.entry().body);
    } while (changed_);
    return std::move(split_);
  }

 private:
  void Mark(ValueId value) { changed_ = split_.insert(value).second || changed_; }

  void Visit(RegionId region) {
    for (NodeId id : graph_.region(region).nodes) {
      const Node& node = graph_.node(id);
      if (node.op == "shard") {
        for (ValueId output : node.outputs) Mark(output);
      } else if (HoldsShards(graph_, id)) {
        for (RegionId inner : node.regions) Visit(inner);
        Carry(node);
      }
    }
  }

  // What is made by rows in a trip is read by rows in the next one.
  void Carry(const Node& loop) {
    const Region& condition = graph_.region(loop.regions[0]);
    const Region& body = graph_.region(loop.regions[1]);
    for (size_t k = 0; k < loop.outputs.size(); ++k) {
      if (!split_.contains(body.results[k])) continue;
      Mark(condition.args[k]);
      Mark(body.args[k]);
      Mark(loop.outputs[k]);
    }
  }

  const Graph& graph_;
  absl::flat_hash_set<ValueId> split_;
  bool changed_ = false;
};

using Lengths = std::map<std::string, Dim, std::less<>>;

Dim Elements(const TensorType& type, const Lengths& lengths) {
  Dim product = 1;
  for (const Dim& dim : type.shape.dims()) product = product * dim.Substitute(lengths);
  return product;
}

// Operations for one element of a result.
Dim OperationsEach(const Graph& graph, const Node& node, const Lengths& lengths) {
  if (node.op == "convolution") return Elements(graph.type(node.inputs[1]), lengths);
  Dim product = 1;
  if (node.op != "dot_general") return product;
  const Shape& left = graph.type(node.inputs[0]).shape;
  for (int64_t axis : node.attr("lhs_contract").AsInts()) {
    product = product * left[static_cast<int>(axis)].Substitute(lengths);
  }
  return product;
}

Dim WorkOfRegion(const Graph& graph, RegionId region, const Dim& extent, Lengths lengths) {
  Dim work = 0;
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call" || node.op == "while_rows" || node.op == "ragged_rows" || IsLoop(node)) {
      return Dim::Unknown();
    }
    for (ValueId output : node.outputs) {
      work = work + Elements(graph.type(output), lengths) * OperationsEach(graph, node, lengths);
    }
    // Some of the rows take a branch, and how many is not known here.
    if (const Attr* local = node.FindAttr("local")) lengths.emplace(local->AsString(), extent);
    for (RegionId inner : node.regions) {
      work = work + WorkOfRegion(graph, inner, extent, lengths);
    }
  }
  return work;
}

}  // namespace

bool HoldsShards(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!IsLoop(node)) return false;
  return std::any_of(node.regions.begin(), node.regions.end(), [&](RegionId region) {
    const std::vector<NodeId>& nodes = graph.region(region).nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId inner) {
      return graph.node(inner).op == "shard" || HoldsShards(graph, inner);
    });
  });
}

absl::StatusOr<absl::flat_hash_map<NodeId, NodeId>> CountByWhile(Graph* graph) {
  CountedLoops loops(graph);
  WEIR_RETURN_IF_ERROR(loops.Rewrite(graph->entry().body));
  return loops.TakeOrigins();
}

absl::flat_hash_set<ValueId> SplitValues(const Graph& graph) { return SplitFinder(graph).Find(); }

Dim WorkOfTrip(const Graph& graph, NodeId loop) {
  Dim work = 0;
  for (RegionId region : graph.node(loop).regions) {
    for (NodeId id : graph.region(region).nodes) {
      const Node& node = graph.node(id);
      if (node.op == "shard") {
        const Dim extent = node.attr("extent").AsDims()[0];
        work = work + WorkOfRegion(graph, node.regions[0], extent,
                                   {{node.attr("local").AsString(), extent}});
      } else if (HoldsShards(graph, id)) {
        work = work + WorkOfTrip(graph, id);
      }
    }
  }
  return work;
}

}  // namespace weir
