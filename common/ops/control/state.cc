#include "common/ops/control/state.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/control/assignment.h"
#include "common/ops/control/ordered.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

using control::Assigned;

constexpr std::string_view kRead = "read_variable";
constexpr std::string_view kUpdate = "update_variable";
constexpr std::string_view kAssign = "assign_variable";

bool Writes(const Node& node) { return node.op == kUpdate || node.op == kAssign; }
bool Touches(const Node& node) { return node.op == kRead || Writes(node); }

// How the iterations of a pfor write a variable.
struct Write {
  bool assigns = false;
  std::string kind;  // of the update, or mode of the assignment

  std::string ToString() const {
    return assigns ? StrCat("assigned with mode ", kind) : StrCat("updated by ", kind);
  }
  friend bool operator==(const Write&, const Write&) = default;
};

// REQUIRES: an assignment has a mode.
Write WriteOf(const Node& node) {
  if (node.op == kUpdate) return {false, node.attr("kind").AsString()};
  return {true, node.attr("mode").AsString()};
}

template <class Visit>
void ForEachNode(const Graph& graph, RegionId region, const Visit& visit) {
  for (NodeId id : graph.region(region).nodes) {
    visit(id);
    for (RegionId inner : graph.node(id).regions) ForEachNode(graph, inner, visit);
  }
}

bool HasState(const Graph& graph, RegionId region) {
  bool found = false;
  ForEachNode(graph, region, [&](NodeId id) { found = found || Touches(graph.node(id)); });
  return found;
}

const std::string& NameOf(const Node& node) { return node.attr("name").AsString(); }

ValueId Combine(Builder& b, const std::string& kind, ValueId x, ValueId y) {
  return b.Apply(kind == "sum" ? "add" : kind == "max" ? "maximum" : "minimum", {x, y});
}

absl::Status NoteUse(const Graph& graph, const Node& node,
                     std::map<std::string, VariableUse>* variables) {
  if (node.op == "call") {
    const Function* callee = graph.FindFunction(node.attr("callee").AsString());
    if (callee == nullptr || !HasState(graph, callee->body)) return absl::OkStatus();
    return absl::UnimplementedError(
        StrCat("function @", callee->name, " uses variables: only inlined functions may"));
  }
  if (!Touches(node)) return absl::OkStatus();
  const TensorType& type = graph.type(node.op == kRead ? node.outputs[0] : node.inputs[0]);
  const auto [it, added] = variables->try_emplace(NameOf(node), VariableUse{type});
  it->second.written = it->second.written || Writes(node);
  if (added || it->second.type == type) return absl::OkStatus();
  return InvalidArgument("variable '", NameOf(node), "' is ", it->second.type.ToString(),
                         " elsewhere, but ", type.ToString(), " here");
}

absl::Status CheckFree(const Graph& graph, const std::string& variable) {
  const Function& main = graph.entry();
  bool taken = std::count(main.result_names.begin(), main.result_names.end(), variable) > 0;
  for (ValueId arg : graph.region(main.body).args) {
    taken = taken || graph.value(arg).name == variable;
  }
  if (!taken) return absl::OkStatus();
  return InvalidArgument("variable '", variable, "' has the name of an input or a result of @",
                         main.name, ": give it another one");
}

// What is known of variables at a place of the program.
struct State {
  // The value of each variable; inside of a pfor what the iteration added to it or assigned so far,
  // if it did.
  std::map<std::string, Assigned> values;
  // Inside of a pfor.
  const State* around = nullptr;
  Dim extent = 0;
  ValueId index;                                  // of the iteration
  bool nested = false;                            // in a branch or loop of the body
  std::map<std::string, Write>* kinds = nullptr;  // of the writes
  std::set<std::string> elsewhere;                // what branches before this one write

  bool in_pfor() const { return around != nullptr; }
};

class Threader {
 public:
  explicit Threader(Graph* graph) : graph_(graph) {}

  absl::Status Run() {
    WEIR_ASSIGN_OR_RETURN(variables_, VariablesOf(*graph_));
    Function& main = graph_->functions().front();
    State state;
    for (const auto& [name, use] : variables_) {
      state.values[name] = {graph_->AddArg(main.body, use.type, name), ValueId()};
    }
    WEIR_RETURN_IF_ERROR(Walk(main.body, &state));
    for (const auto& [name, use] : variables_) {
      if (!use.written) continue;
      graph_->region(main.body).results.push_back(state.values.at(name).value);
      main.result_names.push_back(name);
    }
    graph_->ReplaceUses(replacements_);
    DropControlInputs();
    return absl::OkStatus();
  }

 private:
  std::set<std::string> Written(RegionId region) const {
    std::set<std::string> names;
    ForEachNode(*graph_, region, [&](NodeId id) {
      if (Writes(graph_->node(id))) names.insert(NameOf(graph_->node(id)));
    });
    return names;
  }

  std::set<std::string> Written(const Node& node) const {
    std::set<std::string> names;
    for (RegionId region : node.regions) names.merge(Written(region));
    return names;
  }

  // Rebuilds the node list of a region; leaves in `state` what holds at its end.
  absl::Status Walk(RegionId region, State* state) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      Builder b(graph_, region, &Ops());
      b.SetLocation(graph_->node(id).location);
      b.SetName(graph_->node(id).name);
      WEIR_RETURN_IF_ERROR(Annotate(Thread(id, b, state), graph_->Describe(id)));
      WEIR_RETURN_IF_ERROR(b.status());
    }
    return absl::OkStatus();
  }

  absl::Status Thread(NodeId id, Builder& b, State* state) {
    const Node node = graph_->node(id);
    const std::string& op = node.op;
    if (op == kRead) return Read(node, b, *state);
    if (op == kUpdate) {
      return Update(NameOf(node), node.attr("kind").AsString(), node.inputs[0], b, state);
    }
    if (op == kAssign && state->in_pfor() && node.FindAttr("mode") == nullptr) {
      return AssignedInPfor(NameOf(node));
    }
    if (op == kAssign) {
      const std::string mode = state->in_pfor() ? node.attr("mode").AsString() : "";
      return Assign(NameOf(node), mode, {node.inputs[0], ValueId()}, b, state);
    }
    if (op == "pfor") return ThreadPfor(id, b, state);
    if (op == "while") {
      WEIR_RETURN_IF_ERROR(ThreadWhile(id, b, state));
    } else if (op == "for") {
      WEIR_RETURN_IF_ERROR(ThreadFor(id, b, state));
    } else if (!node.regions.empty()) {
      WEIR_RETURN_IF_ERROR(ThreadBranches(id, state));
    }
    graph_->region(b.region()).nodes.push_back(id);
    return absl::OkStatus();
  }

  absl::Status Read(const Node& node, Builder& b, const State& state) {
    const std::string& name = NameOf(node);
    ValueId value;
    if (!state.in_pfor()) {
      value = state.values.at(name).value;
    } else {
      WEIR_ASSIGN_OR_RETURN(value, Before(*state.around, name));
      if (state.elsewhere.contains(name)) return ReadsUpdated(name);
      if (auto own = state.values.find(name); own != state.values.end()) {
        if (state.nested) return ReadsUpdated(name);
        value = Met(own->second, state.kinds->at(name), value, b, state);
      }
    }
    replacements_.emplace(node.outputs[0], value);
    return absl::OkStatus();
  }

  // What a variable holds where all iterations meet in the body of a pfor.
  static ValueId Met(const Assigned& own, const Write& write, ValueId before, Builder& b,
                     const State& state) {
    auto reduced = [&](const std::string& kind, ValueId value) {
      const Attrs attrs = {{"extent", std::vector<Dim>{state.extent}}, {"kind", kind}};
      return b.Apply("iteration_reduce", {value}, attrs);
    };
    if (!write.assigns) {
      return Combine(b, write.kind, before, reduced(write.kind, own.value));
    }
    std::vector<ValueId> shares;
    for (const control::Share& share : control::SharesOf(b, write.kind, own, state.index)) {
      shares.push_back(reduced(share.kind, share.value));
    }
    return control::AssignedOr(b, control::Meet(b, write.kind, shares, b.type(before)), before);
  }

  // The value of a variable around a pfor, as its body may use it.
  static absl::StatusOr<ValueId> Before(const State& state, const std::string& name) {
    if (!state.in_pfor()) return state.values.at(name).value;
    if (state.values.contains(name) || state.elsewhere.contains(name)) return ReadsUpdated(name);
    return Before(*state.around, name);
  }

  static absl::Status ReadsUpdated(const std::string& name) {
    return InvalidArgument(
        "reads variable '", name,
        "' in a branch or loop of a pfor that writes it: what other iterations make of it is only "
        "known directly in the body, where all of them meet; assignments in order (mode ordered) "
        "may be read anywhere");
  }

  static absl::Status NoteWrite(const std::string& name, const Write& write, State* state) {
    const auto [it, added] = state->kinds->try_emplace(name, write);
    if (it->second == write) return absl::OkStatus();
    return InvalidArgument("variable '", name, "' is ", it->second.ToString(), " and ",
                           write.ToString(),
                           " in one pfor: the result would depend on the order of iterations");
  }

  absl::Status Update(const std::string& name, const std::string& kind, ValueId operand, Builder& b,
                      State* state) {
    if (state->in_pfor()) WEIR_RETURN_IF_ERROR(NoteWrite(name, {false, kind}, state));
    auto value = state->values.find(name);
    if (value == state->values.end()) {
      state->values.emplace(name, Assigned{operand, ValueId()});
    } else {
      value->second.value = Combine(b, kind, value->second.value, operand);
    }
    return absl::OkStatus();
  }

  // `mode`: in a pfor.
  static absl::Status Assign(const std::string& name, const std::string& mode,
                             const Assigned& assigned, Builder& b, State* state) {
    if (!state->in_pfor()) {
      Assigned& value = state->values.at(name);
      value.value = control::AssignedOr(b, assigned, value.value);
      return absl::OkStatus();
    }
    WEIR_RETURN_IF_ERROR(NoteWrite(name, {true, mode}, state));
    const auto [it, added] = state->values.try_emplace(name, assigned);
    if (!added) it->second = control::Then(b, it->second, assigned);
    return absl::OkStatus();
  }

  static absl::Status AssignedInPfor(const std::string& name) {
    return InvalidArgument("assigns variable '", name,
                           "' in a pfor: which iteration's value counts is undefined; say it by a "
                           "mode (last, mean, sum, ordered), update the variable by sum, max or "
                           "min, or assign behind the loop");
  }

  // What branches yield and loops carry of a variable.
  std::vector<TensorType> Types(const std::string& name, const State& state) const {
    std::vector<TensorType> types = {variables_.at(name).type};
    if (state.in_pfor() && state.kinds->at(name).assigns) types.push_back({DType::kBool, Shape()});
    return types;
  }

  static Assigned FromValues(const std::vector<ValueId>& values) {
    return {values[0], values.size() > 1 ? values[1] : ValueId()};
  }

  // Its own writes start from nothing where there are none yet.
  std::vector<ValueId> Start(const std::string& name, Builder b, const State& state) const {
    Assigned start;
    if (auto it = state.values.find(name); it != state.values.end()) {
      start = it->second;
    } else if (const Write& write = state.kinds->at(name); write.assigns) {
      start = control::NothingAssigned(b, variables_.at(name).type);
    } else {
      start.value = control::ReductionIdentity(b, write.kind, variables_.at(name).type);
    }
    if (Types(name, state).size() == 1) return {start.value};
    if (!start.happened.valid()) start.happened = b.Scalar<bool>(true);
    return {start.value, start.happened};
  }

  // Starts what a loop carries of a variable.
  void AddOperands(NodeId id, const std::string& name, Builder b, const State& state) {
    for (ValueId start : Start(name, b, state)) graph_->node(id).inputs.push_back(start);
  }

  Assigned AddArgs(RegionId region, const std::string& name, const State& state) {
    std::vector<ValueId> args;
    for (const TensorType& type : Types(name, state)) {
      args.push_back(graph_->AddArg(region, type, name));
    }
    return FromValues(args);
  }

  // Adds outputs from `at` on. Returns: the place behind them.
  int AddOutputs(NodeId id, int at, const std::string& name, State* state) {
    std::vector<ValueId> outputs;
    for (const TensorType& type : Types(name, *state)) {
      outputs.push_back(graph_->InsertOutput(id, at++, type));
    }
    state->values[name] = FromValues(outputs);
    return at;
  }

  int NumOutputs(NodeId id) const { return static_cast<int>(graph_->node(id).outputs.size()); }

  // How the pfor writes each variable must be known before a loop carries it.
  absl::Status NoteKinds(const Node& node, State* state) const {
    absl::Status status;
    if (!state->in_pfor()) return status;
    for (RegionId region : node.regions) {
      ForEachNode(*graph_, region, [&](NodeId id) {
        const Node& inner = graph_->node(id);
        if (!Writes(inner) || !status.ok()) return;
        if (inner.op == kAssign && inner.FindAttr("mode") == nullptr) {
          status = Annotate(AssignedInPfor(NameOf(inner)), graph_->Describe(id));
        } else {
          status = Annotate(NoteWrite(NameOf(inner), WriteOf(inner), state), graph_->Describe(id));
        }
      });
    }
    return status;
  }

  static State Inside(const State& state) {
    State inner = state;
    inner.nested = true;
    return inner;
  }

  absl::Status ThreadBranches(NodeId id, State* state) {
    const Node node = graph_->node(id);
    const std::set<std::string> written = Written(node);
    WEIR_RETURN_IF_ERROR(NoteKinds(node, state));
    std::set<std::string> elsewhere = state->elsewhere;
    for (RegionId branch : node.regions) {
      State inner = Inside(*state);
      if (state->in_pfor()) inner.elsewhere = elsewhere;
      const std::set<std::string> writes = Written(branch);
      elsewhere.insert(writes.begin(), writes.end());
      WEIR_RETURN_IF_ERROR(Walk(branch, &inner));
      Builder b(graph_, branch, &Ops());
      for (const std::string& name : written) {
        const std::vector<ValueId> end = Start(name, b, inner);
        std::vector<ValueId>& results = graph_->region(branch).results;
        results.insert(results.end(), end.begin(), end.end());
      }
      WEIR_RETURN_IF_ERROR(b.status());
    }
    for (const std::string& name : written) AddOutputs(id, NumOutputs(id), name, state);
    return absl::OkStatus();
  }

  absl::Status ThreadWhile(NodeId id, Builder& b, State* state) {
    const Node node = graph_->node(id);
    const RegionId condition = node.regions[0];
    const RegionId body = node.regions[1];
    if (const auto written = Written(condition); !written.empty()) {
      return InvalidArgument("variable '", *written.begin(),
                             "' is written in the condition of a loop: write it in the body");
    }
    const std::set<std::string> written = Written(body);
    WEIR_RETURN_IF_ERROR(NoteKinds(node, state));
    State before = Inside(*state);
    State inner = Inside(*state);
    for (const std::string& name : written) {
      AddOperands(id, name, b, *state);
      before.values[name] = AddArgs(condition, name, *state);
      inner.values[name] = AddArgs(body, name, *state);
    }
    WEIR_RETURN_IF_ERROR(Walk(condition, &before));
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    Builder end(graph_, body, &Ops());
    for (const std::string& name : written) {
      const std::vector<ValueId> next = Start(name, end, inner);
      std::vector<ValueId>& results = graph_->region(body).results;
      results.insert(results.end(), next.begin(), next.end());
      AddOutputs(id, NumOutputs(id), name, state);
    }
    return end.status();
  }

  // Results and outputs that are carried stand before those that are collected.
  absl::Status ThreadFor(NodeId id, Builder& b, State* state) {
    const Node node = graph_->node(id);
    const RegionId body = node.regions[0];
    const std::set<std::string> written = Written(body);
    WEIR_RETURN_IF_ERROR(NoteKinds(node, state));
    int carried = static_cast<int>(node.inputs.size()) - 1;
    State inner = Inside(*state);
    for (const std::string& name : written) {
      AddOperands(id, name, b, *state);
      inner.values[name] = AddArgs(body, name, *state);
    }
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    Builder end(graph_, body, &Ops());
    for (const std::string& name : written) {
      const std::vector<ValueId> next = Start(name, end, inner);
      std::vector<ValueId>& results = graph_->region(body).results;
      results.insert(results.begin() + carried, next.begin(), next.end());
      carried = AddOutputs(id, carried, name, state);
    }
    return end.status();
  }

  absl::Status ThreadPfor(NodeId id, Builder& b, State* state) {
    const Node node = graph_->node(id);
    const RegionId body = node.regions[0];
    std::map<std::string, Write> kinds;
    State inner;
    inner.around = state;
    inner.extent = node.attr("extent").AsDims()[0];
    inner.index = graph_->region(body).args[0];
    inner.kinds = &kinds;
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    graph_->region(b.region()).nodes.push_back(id);
    for (const auto& [name, own] : inner.values) {
      WEIR_RETURN_IF_ERROR(WriteBehind(id, name, kinds.at(name), own, b, state));
    }
    return absl::OkStatus();
  }

  // What all iterations of a pfor did is done once behind it.
  absl::Status WriteBehind(NodeId id, const std::string& name, const Write& write,
                           const Assigned& own, Builder& b, State* state) {
    const RegionId body = graph_->node(id).regions[0];
    Builder inside(graph_, body, &Ops());
    std::vector<control::Share> shares = {{write.kind, own.value}};
    if (write.assigns) {
      shares = control::SharesOf(inside, write.kind, own, graph_->region(body).args[0]);
    }
    WEIR_RETURN_IF_ERROR(inside.status());
    const Dim extent = graph_->node(id).attr("extent").AsDims()[0];
    const ValueId count = graph_->node(id).inputs.empty() ? ValueId() : graph_->node(id).inputs[0];
    std::vector<ValueId> reduced;
    for (const control::Share& share : shares) {
      graph_->region(body).results.push_back(share.value);
      const ValueId rows = graph_->InsertOutput(
          id, NumOutputs(id), control::WithLeading(extent, graph_->type(share.value)));
      reduced.push_back(control::ReduceIterations(b, share.kind, rows, count));
    }
    if (!write.assigns) return Update(name, write.kind, reduced[0], b, state);
    const Assigned met = control::Meet(b, write.kind, reduced, variables_.at(name).type);
    return Assign(name, write.kind, met, b, state);
  }

  // State is gone: nothing can wait for the nodes that touched it.
  void DropControlInputs() {
    ForEachNode(*graph_, graph_->entry().body, [&](NodeId id) {
      std::erase_if(graph_->node(id).control_inputs,
                    [&](NodeId before) { return Touches(graph_->node(before)); });
    });
  }

  Graph* graph_;
  std::map<std::string, VariableUse> variables_;
  absl::flat_hash_map<ValueId, ValueId> replacements_;
};

}  // namespace

bool HasState(const Graph& graph) {
  const std::vector<Function>& functions = graph.functions();
  return std::any_of(functions.begin(), functions.end(),
                     [&](const Function& f) { return HasState(graph, f.body); });
}

absl::StatusOr<std::map<std::string, VariableUse>> VariablesOf(const Graph& graph) {
  std::map<std::string, VariableUse> variables;
  absl::Status status;
  ForEachNode(graph, graph.entry().body, [&](NodeId id) {
    if (!status.ok()) return;
    status = Annotate(NoteUse(graph, graph.node(id), &variables), graph.Describe(id));
  });
  WEIR_RETURN_IF_ERROR(status);
  for (const auto& [name, use] : variables) WEIR_RETURN_IF_ERROR(CheckFree(graph, name));
  return variables;
}

absl::Status ThreadState(Graph* graph) {
  if (!HasState(*graph)) return absl::OkStatus();
  WEIR_RETURN_IF_ERROR(SplitOrdered(graph).status());
  return Threader(graph).Run();
}

absl::Status CheckVariableName(const InferContext& context) {
  if (!context.attr("name").AsString().empty()) return absl::OkStatus();
  return InvalidArgument("attribute 'name', of the variable, is empty");
}

absl::StatusOr<Tensor*> VariableOf(EvalContext& context) {
  const std::string& name = context.attr("name").AsString();
  if (Tensor* variable = context.Variable(name)) return variable;
  return absl::NotFoundError(StrCat("there is no variable '", name, "' here"));
}

}  // namespace weir
