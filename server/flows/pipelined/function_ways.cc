#include "server/flows/pipelined/function_ways.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/ops/registry.h"
#include "server/compiler/effects.h"

namespace weir {
namespace {

constexpr size_t kCondition = 0;
constexpr size_t kBody = 1;

bool Contains(const std::vector<ValueId>& values, ValueId value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool ContainsAll(const std::vector<ValueId>& values, const std::vector<ValueId>& some) {
  return std::all_of(some.begin(), some.end(),
                     [&](ValueId value) { return Contains(values, value); });
}

std::vector<ValueId> Without(const std::vector<ValueId>& values, const std::vector<ValueId>& some) {
  std::vector<ValueId> rest = values;
  std::erase_if(rest, [&](ValueId value) { return Contains(some, value); });
  return rest;
}

std::vector<ValueId> Joined(std::vector<ValueId> values, const std::vector<ValueId>& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// The values with those of `from` replaced by those of `to`, one for one.
std::vector<ValueId> Renamed(std::vector<ValueId> values, const std::vector<ValueId>& from,
                             const std::vector<ValueId>& to) {
  for (ValueId& value : values) {
    const auto found = std::find(from.begin(), from.end(), value);
    if (found != from.end()) value = to[found - from.begin()];
  }
  return values;
}

}  // namespace

// The node that is brought out: of its vertices, and of messages, while this lives.
class FunctionWays::AtNode {
 public:
  AtNode(FunctionWays* ways, const Node& node) : ways_(ways), around_(ways->node_) { Set(&node); }
  ~AtNode() { Set(around_); }

 private:
  void Set(const Node* node) {
    ways_->node_ = node;
    ways_->writer_.SetLocation(node == nullptr ? Location() : node->location);
  }

  FunctionWays* const ways_;
  const Node* const around_;
};

FunctionWays::FunctionWays(const Graph& graph, const Options& options, FlowWriter* writer)
    : graph_(graph), options_(options), writer_(*writer) {
  // In the order of the table, a value is made before it is used.
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = graph.node(NodeId(i));
    const OpDef* const op = FindOp(node.op);
    if (!node.regions.empty() || op == nullptr || op->effect != Effect::kPure) continue;
    const bool is_constant = std::all_of(node.inputs.begin(), node.inputs.end(),
                                         [this](ValueId input) { return IsConstant(input); });
    if (is_constant) constants_.insert(node.outputs.begin(), node.outputs.end());
  }
}

absl::StatusOr<WayPoint> FunctionWays::Run(FlowPort input, ScopeId scope, std::string* function) {
  const RegionId body = graph_.entry().body;
  const Values results = graph_.region(body).results;
  std::vector<NodeId> rest;
  WEIR_ASSIGN_OR_RETURN(WayPoint at,
                        UpToRest(body, {input, scope, graph_.region(body).args}, results, &rest));
  function->clear();
  if (!rest.empty() || results != at.columns) {
    *function = writer_.AddFunction(graph_, at.columns, rest, results);
  }
  return at;
}

absl::StatusOr<WayPoint> FunctionWays::RunRegion(RegionId region, WayPoint at, const Values& wanted,
                                                 const Values& labels) {
  std::vector<NodeId> rest;
  WEIR_ASSIGN_OR_RETURN(at, UpToRest(region, std::move(at), wanted, &rest));
  return Map(std::move(at), rest, wanted, labels);
}

absl::StatusOr<WayPoint> FunctionWays::UpToRest(RegionId region, WayPoint at, const Values& wanted,
                                                std::vector<NodeId>* rest) {
  const std::vector<NodeId>& nodes = graph_.region(region).nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph_.node(nodes[i]);
    if (!IsBroughtOut(graph_, nodes[i], options_.what)) {
      const bool is_constant = !node.outputs.empty() && IsConstant(node.outputs[0]);
      if (!is_constant) rest->push_back(nodes[i]);
      continue;
    }
    Values needed;
    Values later;
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      AddUses(nodes[j], &needed);
      later = Joined(std::move(later), graph_.node(nodes[j]).outputs);
    }
    for (const ValueId value : wanted) Add(value, &needed);
    needed = Without(needed, later);
    const AtNode place(this, node);
    WEIR_ASSIGN_OR_RETURN(at, node.op == "if" ? If(node, std::move(at), *rest, needed)
                                              : While(node, std::move(at), *rest, needed));
    rest->clear();
  }
  return at;
}

absl::StatusOr<WayPoint> FunctionWays::If(const Node& node, WayPoint at,
                                          const std::vector<NodeId>& nodes, const Values& needed) {
  Values keep = Without(needed, node.outputs);
  Values columns = keep;
  for (const RegionId branch : node.regions) {
    for (const ValueId captured : graph_.Captures(branch)) Add(captured, &columns);
  }
  Add(node.inputs[0], &columns);
  if (columns.empty()) columns.push_back(at.columns[0]);
  std::vector<size_t> used;
  Values labels;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!Contains(needed, node.outputs[i])) continue;
    used.push_back(i);
    labels.push_back(node.outputs[i]);
  }
  if (labels.empty() && keep.empty()) keep.push_back(columns[0]);
  labels = Joined(std::move(labels), keep);
  if (!nodes.empty() || !ContainsAll(at.columns, columns)) {
    at = Map(std::move(at), nodes, columns, columns);
  }
  const FlowPort yes = Switch(at, {}, node.inputs[0]);
  std::vector<FlowPort> ends;
  for (size_t branch = 0; branch < 2; ++branch) {
    Values wanted;
    for (const size_t i : used) {
      wanted.push_back(graph_.region(node.regions[branch]).results[i]);
    }
    wanted = Joined(std::move(wanted), keep);
    const WayPoint begin = {{yes.vertex, static_cast<int>(branch)}, at.scope, at.columns};
    WEIR_ASSIGN_OR_RETURN(const WayPoint end,
                          RunRegion(node.regions[branch], begin, wanted, labels));
    ends.push_back(end.port);
  }
  return WayPoint{writer_.Add("concat", std::move(ends)), at.scope, std::move(labels)};
}

FunctionWays::Unchanged FunctionWays::Sort(const Node& node, const Values& keep,
                                           const WayPoint& at) const {
  Values reads;
  for (const RegionId region : node.regions) {
    for (const ValueId captured : graph_.Captures(region)) Add(captured, &reads);
  }
  const Values others = Without(keep, reads);
  const auto stays_out = [this](ValueId value) {
    return options_.hold_bytes > 0 && BytesOf(value) >= options_.hold_bytes;
  };
  Unchanged sorted;
  for (const ValueId value : reads) {
    (stays_out(value) ? sorted.held : sorted.goes_round).push_back(value);
  }
  for (const ValueId value : others) {
    (stays_out(value) ? sorted.waits : sorted.goes_round).push_back(value);
  }
  if (!node.inputs.empty() || !sorted.goes_round.empty()) return sorted;
  // Something has to.
  Values all = Joined(std::move(sorted.held), sorted.waits);
  if (all.empty()) all.push_back(at.columns[0]);
  return {.goes_round = std::move(all)};
}

absl::StatusOr<WayPoint> FunctionWays::While(const Node& node, WayPoint at,
                                             const std::vector<NodeId>& nodes,
                                             const Values& needed) {
  const Values& carried = graph_.region(node.regions[kBody]).args;
  const Unchanged unchanged = Sort(node, Without(needed, node.outputs), at);
  const Values round = Joined(carried, unchanged.goes_round);
  const Values aside = Joined(unchanged.held, unchanged.waits);
  at = Map(std::move(at), nodes, Joined(Joined(node.inputs, unchanged.goes_round), aside),
           Joined(round, aside));
  WEIR_ASSIGN_OR_RETURN(const ScopeId inside, AddLoop(at.scope));
  const Attrs loop = {{"loop", writer_.NameOf(inside)}};
  const FlowPort enter = writer_.Add("enter", {Map(at, {}, round, round).port}, loop);
  const FlowPort head = writer_.Add("concat", {enter, enter});  // and what comes round
  WayPoint trip = {head, inside, round};
  if (!unchanged.held.empty()) {
    const WayPoint held = Map(at, {}, unchanged.held, unchanged.held);
    const FlowPort beside = writer_.Add("enter", {held.port}, loop);
    trip.port = writer_.Add("zip", {head, beside}, {{"hold", std::vector<int64_t>{1}}});
    trip.columns = Joined(round, unchanged.held);
  }
  WEIR_ASSIGN_OR_RETURN(trip, Condition(node, std::move(trip)));
  const Values& results = graph_.region(node.regions[kBody]).results;
  WEIR_ASSIGN_OR_RETURN(
      const WayPoint next,
      RunRegion(node.regions[kBody], trip, Joined(results, unchanged.goes_round), round));
  writer_.SetInput(head, 1, writer_.Add("feedback", {next.port}));
  WayPoint end = {writer_.Add("leave", {{trip.port.vertex, 1}}), at.scope,
                  Renamed(trip.columns, carried, node.outputs)};
  if (unchanged.waits.empty()) return end;
  const WayPoint waits = Map(at, {}, unchanged.waits, unchanged.waits);
  end.port = writer_.Add("zip", {end.port, waits.port});
  end.columns = Joined(std::move(end.columns), unchanged.waits);
  return end;
}

absl::StatusOr<WayPoint> FunctionWays::Condition(const Node& node, WayPoint at) {
  const RegionId region = node.regions[kCondition];
  const Values& args = graph_.region(region).args;
  const Values& carried = graph_.region(node.regions[kBody]).args;
  const ValueId predicate = graph_.region(region).results[0];
  const std::vector<NodeId>& nodes = graph_.region(region).nodes;
  at.columns = Renamed(std::move(at.columns), carried, args);
  const bool may_drop =
      options_.drops_failing &&
      std::any_of(nodes.begin(), nodes.end(), [this](NodeId id) { return HasEffect(graph_, id); });
  if (!may_drop && !HasBroughtOut(graph_, region, options_.what)) {
    at.port = Switch(at, nodes, predicate);
  } else {
    Values wanted = at.columns;
    Add(predicate, &wanted);
    WEIR_ASSIGN_OR_RETURN(at, RunRegion(region, std::move(at), wanted, wanted));
    at.port = Switch(at, {}, predicate);
  }
  at.columns = Renamed(std::move(at.columns), args, carried);
  return at;
}

WayPoint FunctionWays::Map(WayPoint at, const std::vector<NodeId>& nodes, const Values& values,
                           const Values& labels) {
  if (!nodes.empty() || values != at.columns) {
    at.port = writer_.AddMap(at.port, writer_.AddFunction(graph_, at.columns, nodes, values));
  }
  at.columns = labels;
  return at;
}

FlowPort FunctionWays::Switch(const WayPoint& at, const std::vector<NodeId>& nodes,
                              ValueId predicate) {
  const std::string function = writer_.AddFunction(graph_, at.columns, nodes, {predicate});
  return writer_.Add("switch", {at.port}, {{"function", function}});
}

absl::StatusOr<ScopeId> FunctionWays::AddLoop(ScopeId around) {
  const ScopeId loop = writer_.AddLoop(around);
  const int most = FlowParseOptions().max_loop_depth;
  if (writer_.DepthOf(loop) <= most) return loop;
  return InvalidArgument(node_->location.known() ? node_->location.ToString() + ": " : "",
                         node_->op, ": it would be inside of ", most, " loops of the flow already");
}

void FunctionWays::AddUses(NodeId id, Values* uses) const {
  const Node& node = graph_.node(id);
  for (const ValueId input : node.inputs) Add(input, uses);
  for (const RegionId region : node.regions) {
    for (const ValueId captured : graph_.Captures(region)) Add(captured, uses);
  }
}

void FunctionWays::Add(ValueId value, Values* values) const {
  if (!IsConstant(value) && !Contains(*values, value)) values->push_back(value);
}

int64_t FunctionWays::BytesOf(ValueId value) const {
  const TensorType& type = graph_.type(value);
  return NumElements(type.shape.extents()) * SizeOf(type.dtype);
}

}  // namespace weir
