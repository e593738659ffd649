#include "common/ops/control/ordered.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/control/assignment.h"
#include "common/ops/control/loop_body.h"
#include "common/ops/control/ragged.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

using Names = std::set<std::string>;

// What a node, with all inside of it, does to variables.
struct Accesses {
  Names read, updated, assigned, ordered;
  bool reduces = false;  // over the iterations of the loop around the node

  bool Touches(const std::string& name) const { return read.contains(name) || Writes(name); }
  bool Writes(const std::string& name) const {
    return updated.contains(name) || assigned.contains(name);
  }
  bool TouchesAny(const Names& names) const {
    return std::any_of(names.begin(), names.end(), [&](const auto& n) { return Touches(n); });
  }
  Names All() const {
    Names all = read;
    all.insert(updated.begin(), updated.end());
    all.insert(assigned.begin(), assigned.end());
    return all;
  }
};

bool IsOrdered(const Node& node) {
  const Attr* mode = node.FindAttr("mode");
  return node.op == "assign_variable" && mode != nullptr && mode->AsString() == control::kOrdered;
}

void Note(const Graph& graph, NodeId id, bool in_inner_pfor, Accesses* accesses) {
  const Node& node = graph.node(id);
  if (node.op == "read_variable") accesses->read.insert(node.attr("name").AsString());
  if (node.op == "update_variable") accesses->updated.insert(node.attr("name").AsString());
  if (node.op == "assign_variable") accesses->assigned.insert(node.attr("name").AsString());
  if (IsOrdered(node)) accesses->ordered.insert(node.attr("name").AsString());
  if (node.op == "iteration_reduce" && !in_inner_pfor) accesses->reduces = true;
  for (RegionId region : node.regions) {
    for (NodeId inner : graph.region(region).nodes) {
      Note(graph, inner, in_inner_pfor || node.op == "pfor", accesses);
    }
  }
}

Accesses AccessesOf(const Graph& graph, NodeId id) {
  Accesses accesses;
  Note(graph, id, false, &accesses);
  return accesses;
}

// The parts of a body, each in its order.
struct Parts {
  std::vector<NodeId> before, in_order, behind;
};

class Splitter {
 public:
  explicit Splitter(Graph* graph) : graph_(graph) {}

  // Rebuilds the node list of a region.
  absl::Status Walk(RegionId region) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      if (graph_->node(id).op == "pfor" && !AccessesOf(*graph_, id).ordered.empty()) {
        WEIR_RETURN_IF_ERROR(Annotate(Split(id, region), graph_->Describe(id)));
        continue;
      }
      graph_->region(region).nodes.push_back(id);
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Walk(r));
    }
    return absl::OkStatus();
  }

  std::vector<OrderedLoop> TakeLoops() { return std::move(loops_); }

 private:
  // For each node of a body the earlier ones that it waits for.
  std::vector<std::vector<size_t>> Dependences(const std::vector<NodeId>& nodes,
                                               const std::vector<Accesses>& accesses) const {
    std::vector<std::vector<size_t>> before(nodes.size());
    absl::flat_hash_map<ValueId, size_t> makers;
    absl::flat_hash_map<NodeId, size_t> places;
    for (size_t k = 0; k < nodes.size(); ++k) {
      places.emplace(nodes[k], k);
      for (ValueId output : graph_->node(nodes[k]).outputs) makers.emplace(output, k);
      for (ValueId used : control::UsesOf(*graph_, nodes[k])) {
        if (auto it = makers.find(used); it != makers.end()) before[k].push_back(it->second);
      }
      for (NodeId control : graph_->node(nodes[k]).control_inputs) {
        if (auto it = places.find(control); it != places.end()) before[k].push_back(it->second);
      }
      for (const std::string& name : accesses[k].All()) {
        for (size_t j = 0; j < k; ++j) {
          const bool is_write = accesses[j].Writes(name) || accesses[k].Writes(name);
          if (is_write && accesses[j].Touches(name)) before[k].push_back(j);
        }
      }
    }
    return before;
  }

  Parts PartsOf(const std::vector<NodeId>& nodes, const std::vector<Accesses>& accesses,
                const Names& ordered) const {
    const std::vector<std::vector<size_t>> before = Dependences(nodes, accesses);
    std::vector<bool> touches, follows(nodes.size()), leads(nodes.size());
    for (size_t k = 0; k < nodes.size(); ++k) {
      touches.push_back(accesses[k].TouchesAny(ordered));
      follows[k] = touches[k] || std::any_of(before[k].begin(), before[k].end(),
                                             [&](size_t j) { return follows[j]; });
    }
    for (size_t k = nodes.size(); k-- > 0;) {
      leads[k] = leads[k] || touches[k];
      for (size_t j : before[k]) leads[j] = leads[j] || leads[k];
    }
    Parts parts;
    for (size_t k = 0; k < nodes.size(); ++k) {
      auto& part = !follows[k] ? parts.before : leads[k] ? parts.in_order : parts.behind;
      part.push_back(nodes[k]);
    }
    return parts;
  }

  absl::Status CheckInOrder(const std::vector<NodeId>& in_order, const Names& ordered) const {
    const std::string& because = *ordered.begin();
    Accesses all;
    for (NodeId id : in_order) {
      Note(*graph_, id, false, &all);
      if (AccessesOf(*graph_, id).reduces) {
        return InvalidArgument(graph_->Describe(id),
                               ": reduces over the iterations of a loop between accesses of "
                               "variable '",
                               because,
                               "', which make them run one after the other (mode ordered)");
      }
    }
    for (const std::string& name : all.All()) {
      if (ordered.contains(name)) continue;
      const bool assigned = all.assigned.contains(name);
      if (!assigned && !(all.read.contains(name) && all.updated.contains(name))) continue;
      return InvalidArgument("variable '", name, "' is ",
                             assigned ? "assigned" : "read and updated",
                             " between accesses of variable '", because,
                             "', which make iterations run one after the other (mode ordered): "
                             "assign it in order too, or elsewhere");
    }
    return absl::OkStatus();
  }

  void NoteLoop(const std::vector<NodeId>& nodes, const Names& ordered) {
    for (NodeId id : nodes) {
      const Node& node = graph_->node(id);
      if (IsOrdered(node) && ordered.contains(node.attr("name").AsString())) {
        loops_.push_back({node.attr("name").AsString(), node.name, node.location});
        return;
      }
      const size_t before = loops_.size();
      for (RegionId region : node.regions) {
        NoteLoop(graph_->region(region).nodes, ordered);
        if (loops_.size() > before) return;
      }
    }
  }

  // Appends the three loops in place of a pfor.
  absl::Status Split(NodeId pfor, RegionId parent) {
    const RegionId body = graph_->node(pfor).regions[0];
    std::vector<NodeId> nodes = graph_->region(body).nodes;
    nodes = control::MoveOutInvariant(graph_, nodes, parent);
    std::vector<Accesses> accesses;
    Names ordered;
    for (NodeId id : nodes) {
      accesses.push_back(AccessesOf(*graph_, id));
      ordered.insert(accesses.back().ordered.begin(), accesses.back().ordered.end());
    }
    const Parts parts = PartsOf(nodes, accesses, ordered);
    WEIR_RETURN_IF_ERROR(CheckInOrder(parts.in_order, ordered));
    NoteLoop(parts.in_order, ordered);

    Builder outside(graph_, parent, &Ops());
    outside.SetLocation(graph_->node(pfor).location);
    outside.SetName(graph_->node(pfor).name);
    const ValueMap rows = RunBefore(pfor, parts, outside);
    const ValueMap made = RunInOrder(pfor, parts, rows, outside);
    WEIR_RETURN_IF_ERROR(outside.status());

    graph_->region(body).nodes.clear();
    Builder rest(graph_, body, &Ops());
    absl::flat_hash_map<ValueId, ValueId> replacements;
    const std::vector<ValueId> results = graph_->region(body).results;
    for (const auto& [values, source] :
         {std::pair(&rows, &parts.before), {&made, &parts.in_order}}) {
      for (ValueId value : control::LiveValues(*graph_, *source, parts.behind, results)) {
        replacements.emplace(value, TakeRow(rest, values->at(value), graph_->region(body).args[0]));
      }
    }
    WEIR_RETURN_IF_ERROR(rest.status());
    control::DropControlInputs(graph_, parts.behind);
    for (NodeId id : parts.behind) control::MoveNode(graph_, id, body);
    graph_->ReplaceUses(replacements);
    graph_->region(parent).nodes.push_back(pfor);
    return absl::OkStatus();
  }

  // Returns: what the first part makes and others need, by row.
  ValueMap RunBefore(NodeId pfor, const Parts& parts, Builder& outside) {
    if (parts.before.empty()) return {};
    const Node loop = graph_->node(pfor);
    const Region body = graph_->region(loop.regions[0]);
    std::vector<NodeId> after = parts.in_order;
    after.insert(after.end(), parts.behind.begin(), parts.behind.end());
    const std::vector<ValueId> live =
        control::LiveValues(*graph_, parts.before, after, body.results);
    Builder inside = outside.In(outside.NewRegion());
    ValueMap map = {{body.args[0], inside.AddArg(graph_->type(body.args[0]), "i")}};
    FillBody(parts.before, live, std::move(map), &inside);
    return ByValue(live, outside.ApplyAll("pfor", loop.inputs, loop.attrs, {inside.region()}));
  }

  // Clones the nodes behind the arguments, which `map` names, and yields the values that live on.
  void FillBody(const std::vector<NodeId>& nodes, const std::vector<ValueId>& live, ValueMap map,
                Builder* body) {
    absl::flat_hash_map<NodeId, NodeId> clones;
    for (NodeId id : nodes) CloneNode(*graph_, id, graph_, body->region(), &map, &clones);
    std::vector<ValueId> results;
    for (ValueId value : live) results.push_back(map.at(value));
    body->Yield(std::move(results));
  }

  static ValueMap ByValue(const std::vector<ValueId>& values, const std::vector<ValueId>& rows) {
    ValueMap map;
    for (size_t k = 0; k < rows.size(); ++k) map.emplace(values[k], rows[k]);
    return map;
  }

  // Returns: what the second part makes and the last needs, by row.
  ValueMap RunInOrder(NodeId pfor, const Parts& parts, const ValueMap& rows, Builder& outside) {
    const Node loop = graph_->node(pfor);
    const Region body = graph_->region(loop.regions[0]);
    const Dim extent = loop.attr("extent").AsDims()[0];
    const std::vector<ValueId> live =
        control::LiveValues(*graph_, parts.in_order, parts.behind, body.results);
    const std::vector<ValueId> needed =
        control::LiveValues(*graph_, parts.before, parts.in_order, {});
    Builder inside = outside.In(outside.NewRegion());
    const ValueId index = inside.AddArg(graph_->type(body.args[0]), "i");
    ValueMap map = {{body.args[0], index}};
    for (ValueId value : needed) map.emplace(value, TakeRow(inside, rows.at(value), index));
    FillBody(parts.in_order, live, std::move(map), &inside);
    const std::vector<ValueId> made =
        control::LoopOverIterations(outside, inside.region(), loop.inputs, extent);
    if (outside.ok()) outside.Fail(Walk(inside.region()));
    return ByValue(live, made);
  }

  Graph* graph_;
  std::vector<OrderedLoop> loops_;
};

}  // namespace

absl::StatusOr<std::vector<OrderedLoop>> SplitOrdered(Graph* graph) {
  Splitter splitter(graph);
  WEIR_RETURN_IF_ERROR(splitter.Walk(graph->entry().body));
  return splitter.TakeLoops();
}

}  // namespace weir
