#include "common/ops/control/state.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

constexpr std::string_view kRead = "read_variable";
constexpr std::string_view kUpdate = "update_variable";
constexpr std::string_view kAssign = "assign_variable";

bool Writes(const Node& node) { return node.op == kUpdate || node.op == kAssign; }
bool Touches(const Node& node) { return node.op == kRead || Writes(node); }

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
  // The value of each variable; inside of a pfor what the iteration added to it so far, if it did.
  std::map<std::string, ValueId> values;
  // Inside of a pfor.
  const State* around = nullptr;
  Dim extent = 0;
  bool nested = false;                                  // in a branch or loop of the body
  std::map<std::string, std::string>* kinds = nullptr;  // of the updates

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
      state.values[name] = graph_->AddArg(main.body, use.type, name);
    }
    WEIR_RETURN_IF_ERROR(Walk(main.body, &state));
    for (const auto& [name, use] : variables_) {
      if (!use.written) continue;
      graph_->region(main.body).results.push_back(state.values.at(name));
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
    if (op == kAssign) return Assign(node, state);
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
      value = state.values.at(name);
    } else {
      WEIR_ASSIGN_OR_RETURN(value, Before(*state.around, name));
      if (auto own = state.values.find(name); own != state.values.end()) {
        if (state.nested) return ReadsUpdated(name);
        const std::string& kind = state.kinds->at(name);
        const ValueId all = b.Apply("iteration_reduce", {own->second},
                                    {{"extent", std::vector<Dim>{state.extent}}, {"kind", kind}});
        value = Combine(b, kind, value, all);
      }
    }
    replacements_.emplace(node.outputs[0], value);
    return absl::OkStatus();
  }

  // The value of a variable around a pfor, as its body may use it.
  static absl::StatusOr<ValueId> Before(const State& state, const std::string& name) {
    if (!state.in_pfor()) return state.values.at(name);
    if (state.values.contains(name)) return ReadsUpdated(name);
    return Before(*state.around, name);
  }

  static absl::Status ReadsUpdated(const std::string& name) {
    return InvalidArgument(
        "reads variable '", name,
        "' in a branch or loop of a pfor that updates it: what other iterations add is only known "
        "directly in the body, where all of them meet");
  }

  absl::Status Update(const std::string& name, const std::string& kind, ValueId operand, Builder& b,
                      State* state) {
    if (state->in_pfor()) {
      const auto [it, added] = state->kinds->try_emplace(name, kind);
      if (it->second != kind) {
        return InvalidArgument("variable '", name, "' is updated by ", it->second, " and by ", kind,
                               " in one pfor: the result would depend on the order of iterations");
      }
    }
    auto value = state->values.find(name);
    if (value == state->values.end()) {
      state->values.emplace(name, operand);
    } else {
      value->second = Combine(b, kind, value->second, operand);
    }
    return absl::OkStatus();
  }

  static absl::Status Assign(const Node& node, State* state) {
    const std::string& name = NameOf(node);
    if (state->in_pfor()) return AssignedInPfor(name);
    state->values[name] = node.inputs[0];
    return absl::OkStatus();
  }

  static absl::Status AssignedInPfor(const std::string& name) {
    return InvalidArgument("assigns variable '", name,
                           "' in a pfor: which iteration's value counts is undefined; update it "
                           "by sum, max or min, or assign what a reduction over the iterations "
                           "gives behind the loop");
  }

  // Its own additions start from nothing where there are none yet.
  ValueId Start(const std::string& name, Builder b, State* state) const {
    if (auto it = state->values.find(name); it != state->values.end()) return it->second;
    return control::ReductionIdentity(b, state->kinds->at(name), variables_.at(name).type);
  }

  // The kind in which the pfor updates each variable must be known before a loop carries it.
  absl::Status NoteKinds(const Node& node, State* state) const {
    absl::Status status;
    if (!state->in_pfor()) return status;
    for (RegionId region : node.regions) {
      ForEachNode(*graph_, region, [&](NodeId id) {
        const Node& inner = graph_->node(id);
        if (inner.op == kUpdate) {
          state->kinds->try_emplace(NameOf(inner), inner.attr("kind").AsString());
        } else if (inner.op == kAssign && status.ok()) {
          status = Annotate(AssignedInPfor(NameOf(inner)), graph_->Describe(id));
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
    for (RegionId branch : node.regions) {
      State inner = Inside(*state);
      WEIR_RETURN_IF_ERROR(Walk(branch, &inner));
      Builder b(graph_, branch, &Ops());
      for (const std::string& name : written) {
        const ValueId end = Start(name, b, &inner);
        graph_->region(branch).results.push_back(end);
      }
      WEIR_RETURN_IF_ERROR(b.status());
    }
    for (const std::string& name : written) {
      const int at = static_cast<int>(graph_->node(id).outputs.size());
      state->values[name] = graph_->InsertOutput(id, at, variables_.at(name).type);
    }
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
      const ValueId start = Start(name, b, state);
      graph_->node(id).inputs.push_back(start);
      before.values[name] = graph_->AddArg(condition, variables_.at(name).type, name);
      inner.values[name] = graph_->AddArg(body, variables_.at(name).type, name);
    }
    WEIR_RETURN_IF_ERROR(Walk(condition, &before));
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    for (const std::string& name : written) {
      graph_->region(body).results.push_back(inner.values.at(name));
      const int at = static_cast<int>(graph_->node(id).outputs.size());
      state->values[name] = graph_->InsertOutput(id, at, variables_.at(name).type);
    }
    return absl::OkStatus();
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
      const ValueId start = Start(name, b, state);
      graph_->node(id).inputs.push_back(start);
      inner.values[name] = graph_->AddArg(body, variables_.at(name).type, name);
    }
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    for (const std::string& name : written) {
      std::vector<ValueId>& results = graph_->region(body).results;
      results.insert(results.begin() + carried, inner.values.at(name));
      state->values[name] = graph_->InsertOutput(id, carried++, variables_.at(name).type);
    }
    return absl::OkStatus();
  }

  absl::Status ThreadPfor(NodeId id, Builder& b, State* state) {
    const Node node = graph_->node(id);
    const RegionId body = node.regions[0];
    std::map<std::string, std::string> kinds;
    State inner;
    inner.around = state;
    inner.extent = node.attr("extent").AsDims()[0];
    inner.kinds = &kinds;
    WEIR_RETURN_IF_ERROR(Walk(body, &inner));
    graph_->region(b.region()).nodes.push_back(id);
    const ValueId count = node.inputs.empty() ? ValueId() : node.inputs[0];
    for (const auto& [name, added] : inner.values) {
      graph_->region(body).results.push_back(added);
      const int at = static_cast<int>(graph_->node(id).outputs.size());
      const ValueId rows = graph_->InsertOutput(
          id, at, control::WithLeading(inner.extent, variables_.at(name).type));
      const ValueId all = control::ReduceIterations(b, kinds.at(name), rows, count);
      WEIR_RETURN_IF_ERROR(Update(name, kinds.at(name), all, b, state));
    }
    return absl::OkStatus();
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
  return HasState(*graph) ? Threader(graph).Run() : absl::OkStatus();
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
