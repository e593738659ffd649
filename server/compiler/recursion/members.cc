#include "server/compiler/recursion/members.h"

#include <algorithm>

#include "common/base/status.h"
#include "server/compiler/optimize/substitute.h"

namespace weir {
namespace {

constexpr int kAnything = -2;  // no call seen yet
constexpr int kDiffers = -1;

// Values in the order of their first use.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph) {}

  void Add(ValueId value) {
    if (seen_.insert(value).second) values_.push_back(value);
  }
  void AddRegion(RegionId region, size_t from) {
    const Region& r = graph_.region(region);
    for (size_t i = from; i < r.nodes.size(); ++i) {
      const Node& node = graph_.node(r.nodes[i]);
      for (ValueId input : node.inputs) Add(input);
      for (RegionId inner : node.regions) AddCaptures(inner);
    }
    for (ValueId result : r.results) Add(result);
  }
  void AddCaptures(RegionId region) {
    for (ValueId capture : graph_.Captures(region)) Add(capture);
  }
  // What each further trip of a loop uses.
  void AddLoop(const Node& loop) {
    for (RegionId inner : loop.regions) AddCaptures(inner);
    if (loop.op != "for") return;
    Add(graph_.region(loop.regions[0]).args[0]);
    Add(loop.inputs[0]);
    for (size_t i = loop.inputs.size() - 1; i < loop.outputs.size(); ++i) Add(loop.outputs[i]);
  }

  std::vector<ValueId> Take() { return std::move(values_); }

 private:
  const Graph& graph_;
  absl::flat_hash_set<ValueId> seen_;
  std::vector<ValueId> values_;
};

template <class Visit>
void ForEachCall(const Graph& graph, RegionId region, const Visit& visit) {
  for (NodeId id : graph.region(region).nodes) {
    if (graph.node(id).op == "call") visit(id);
    for (RegionId inner : graph.node(id).regions) ForEachCall(graph, inner, visit);
  }
}

}  // namespace

absl::StatusOr<Members> Members::Create(Graph* graph, const Recursion::Set& set,
                                        std::string_view root) {
  Members members(graph);
  WEIR_RETURN_IF_ERROR(members.Copy(set, root));
  for (const Member& member : members.members_) members.Index(member.body);
  for (NodeId call : members.call_order_) {
    const Member& caller = members.members_[members.calls_.at(call).caller];
    WEIR_RETURN_IF_ERROR(Annotate(members.CheckAround(caller, call),
                                  StrCat("@", caller.name, ": ", graph->Describe(call))));
  }
  members.FindSame();
  return members;
}

absl::Status Members::Copy(const Recursion::Set& set, std::string_view root) {
  absl::flat_hash_map<std::string, int> number;
  for (const std::string& name : set.functions) number.emplace(name, -1);
  CopyMember(std::string(root), &number);
  for (size_t m = 0; m < members_.size(); ++m) {
    std::vector<NodeId> calls;
    ForEachCall(*graph_, members_[m].body, [&](NodeId id) {
      if (number.contains(graph_->node(id).attr("callee").AsString())) calls.push_back(id);
    });
    for (NodeId id : calls) {
      const std::string callee = graph_->node(id).attr("callee").AsString();
      if (number.at(callee) < 0) {
        CopyMember(callee, &number);
        SymbolDims symbols;
        const Member& copy = members_.back();
        const std::vector<ValueId> params = graph_->region(copy.body).args;
        for (size_t i = 0; i < params.size(); ++i) {
          BindSymbols(graph_->type(params[i]).shape, graph_->type(graph_->node(id).inputs[i]).shape,
                      &symbols);
        }
        SubstituteSymbols(graph_, copy.body, symbols);
      }
      const int to = number.at(callee);
      calls_.emplace(id, Call{static_cast<int>(m), to, IsTailCall(*graph_, id)});
      call_order_.push_back(id);
    }
  }
  for (NodeId id : call_order_) {
    const Call& call = calls_.at(id);
    WEIR_RETURN_IF_ERROR(
        Annotate(Bind(id, members_[call.callee]),
                 StrCat("@", members_[call.caller].name, ": ", graph_->Describe(id))));
  }
  return absl::OkStatus();
}

void Members::CopyMember(const std::string& name, absl::flat_hash_map<std::string, int>* number) {
  (*number)[name] = static_cast<int>(members_.size());
  ValueMap map;
  members_.push_back({name, CloneRegion(*graph_, graph_->FindFunction(name)->body, graph_, &map)});
}

// One copy of the callee must do for all its calls.
absl::Status Members::Bind(NodeId call, const Member& callee) const {
  const Node& node = graph_->node(call);
  const auto check = [&](std::string_view what, const std::vector<ValueId>& there,
                         const std::vector<ValueId>& here) {
    for (size_t i = 0; i < there.size(); ++i) {
      const TensorType& wanted = graph_->type(there[i]);
      const TensorType& found = graph_->type(here[i]);
      if (found == wanted) continue;
      return absl::UnimplementedError(
          StrCat(what, " ", i, " of a recursive call of @", callee.name, " is ", found.ToString(),
                 ", but ", wanted.ToString(),
                 " elsewhere: sizes must not change from call to call; pad to one size"));
    }
    return absl::OkStatus();
  };
  const Region& body = graph_->region(callee.body);
  WEIR_RETURN_IF_ERROR(check("argument", body.args, node.inputs));
  return check("result", body.results, node.outputs);
}

void Members::Index(RegionId region) {
  const std::vector<NodeId>& nodes = graph_->region(region).nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    positions_.emplace(nodes[i], i);
    for (RegionId inner : graph_->node(nodes[i]).regions) Index(inner);
  }
}

absl::Status Members::CheckAround(const Member& member, NodeId call) {
  for (RegionId region = graph_->node(call).parent; region != member.body;) {
    const NodeId around = graph_->region(region).parent;
    const Node& node = graph_->node(around);
    if (node.op != "if" && node.op != "case" && node.op != "while" && node.op != "for") {
      return absl::UnimplementedError(
          StrCat("a recursive call inside of a ", node.op,
                 " of the recursive function has no loop form; use a for or while loop there"));
    }
    splits_.insert(around);
    region = node.parent;
  }
  return absl::OkStatus();
}

// The largest solution: a parameter equals one of the root until some call says otherwise.
void Members::FindSame() {
  absl::flat_hash_map<ValueId, std::pair<int, int>> params;
  for (size_t m = 0; m < members_.size(); ++m) {
    const std::vector<ValueId>& args = graph_->region(members_[m].body).args;
    for (size_t i = 0; i < args.size(); ++i) {
      params.emplace(args[i], std::make_pair(static_cast<int>(m), static_cast<int>(i)));
      members_[m].same_as.push_back(m == 0 ? static_cast<int>(i) : kAnything);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (NodeId id : call_order_) {
      const std::vector<ValueId>& inputs = graph_->node(id).inputs;
      std::vector<int>& same = members_[calls_.at(id).callee].same_as;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const auto param = params.find(inputs[i]);
        const int given = param == params.end()
                              ? kDiffers
                              : members_[param->second.first].same_as[param->second.second];
        if (given == kAnything || same[i] == kDiffers || same[i] == given) continue;
        same[i] = same[i] == kAnything ? given : kDiffers;
        changed = true;
      }
    }
  }
}

const Members::Call* Members::FindCall(NodeId node) const {
  const auto it = calls_.find(node);
  return it == calls_.end() ? nullptr : &it->second;
}

bool Members::RunsThrough(RegionId region) const {
  const std::vector<NodeId>& nodes = graph_->region(region).nodes;
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    if (calls_.contains(id)) return false;
    if (!Splits(id)) return true;
    const std::string& op = graph_->node(id).op;
    return (op == "if" || op == "case") && WaysThrough(id) > 0;
  });
}

int Members::WaysThrough(NodeId branch) const {
  const std::vector<RegionId>& regions = graph_->node(branch).regions;
  return static_cast<int>(std::count_if(regions.begin(), regions.end(),
                                        [&](RegionId region) { return RunsThrough(region); }));
}

bool Members::IsLast(NodeId node) const {
  const Region& region = graph_->region(graph_->node(node).parent);
  if (region.nodes.back() != node) return false;
  if (!region.parent.valid()) return true;
  const std::string& around = graph_->node(region.parent).op;
  return (around == "if" || around == "case") && IsLast(region.parent);
}

std::vector<ValueId> Members::NeededFrom(RegionId region, size_t from) const {
  Uses uses(*graph_);
  for (;;) {
    uses.AddRegion(region, from);
    const NodeId around = graph_->region(region).parent;
    if (!around.valid()) break;
    const Node& node = graph_->node(around);
    if (node.op == "while" || node.op == "for") uses.AddLoop(node);
    if (node.op == "while" && region == node.regions[0]) {
      for (ValueId arg : graph_->region(node.regions[1]).args) uses.Add(arg);
    }
    region = node.parent;
    from = Position(around) + 1;
  }
  return uses.Take();
}

std::vector<ValueId> Members::NeededByLoop(NodeId loop) const {
  const Node& node = graph_->node(loop);
  Uses uses(*graph_);
  uses.AddLoop(node);
  for (ValueId value : NeededFrom(node.parent, Position(loop) + 1)) uses.Add(value);
  return uses.Take();
}

}  // namespace weir
