#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/flow/check_functions.h"
#include "common/flow/check_vertex.h"
#include "common/flow/flow.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"
#include "common/ir/suggest.h"

namespace weir {
namespace {

std::string Hint(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view closest = Closest(word, known);
  return closest.empty() ? "" : StrCat("; did you mean '", closest, "'?");
}

// As it may stand in a message of one line.
std::string Shown(std::string_view text) {
  const std::string quoted = Quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

// Scopes and types follow from one another through cycles, so both are worked out by going along
// streams until nothing new is found.
class FlowChecker {
 public:
  explicit FlowChecker(Flow* flow) : flow_(*flow) {}

  absl::Status Check() {
    if (flow_.functions != nullptr) WEIR_RETURN_IF_ERROR(CheckFunctions(*flow_.functions));
    WEIR_RETURN_IF_ERROR(CheckLoops());
    WEIR_RETURN_IF_ERROR(ForEach(&FlowChecker::CheckForm));
    FindReaders();
    for (FlowVertex& vertex : flow_.vertices) {
      vertex.scope = vertex.output_scope = ScopeId();
      vertex.input_types.clear();
      vertex.output_types.clear();
    }
    WEIR_RETURN_IF_ERROR(Repeat(&FlowChecker::InferScope));
    WEIR_RETURN_IF_ERROR(ForEach(&FlowChecker::CheckReached));
    WEIR_RETURN_IF_ERROR(ForEach(&FlowChecker::CheckScope));
    WEIR_RETURN_IF_ERROR(Repeat(&FlowChecker::InferTypes));
    return ForEach(&FlowChecker::CheckTypes);
  }

  // Of a vertex that comes behind all others.
  absl::Status CheckNew(FlowVertex* vertex) {
    WEIR_RETURN_IF_ERROR(CheckKind(vertex));
    WEIR_RETURN_IF_ERROR(InferScope(vertex));
    WEIR_RETURN_IF_ERROR(CheckReached(vertex));
    WEIR_RETURN_IF_ERROR(CheckScope(vertex));
    WEIR_RETURN_IF_ERROR(InferTypes(vertex));
    return CheckTypes(vertex);
  }

  absl::Status CheckOpen(FlowVertex* vertex, ScopeId scope, const RecordType& type) {
    vertex->def = FindVertexKind(vertex->kind);
    const bool may_be_open = vertex->def != nullptr && vertex->def->max_inputs == 1 &&
                             vertex->def->scope == VertexKind::Scope::kSame;
    if (!may_be_open) return Fault(*vertex, "it cannot be open");
    WEIR_RETURN_IF_ERROR(CheckAttrs(*vertex));
    vertex->scope = vertex->output_scope = scope;
    vertex->input_types = {type};
    const RecordType* const input = &type;
    WEIR_ASSIGN_OR_RETURN(auto types, InferFrom(*vertex, {&input, 1}));
    if (!types) return Fault(*vertex, "the type of its records follows from nothing");
    vertex->output_types = *std::move(types);
    return absl::OkStatus();
  }

  absl::Status CheckAgain(FlowVertex* vertex) {
    WEIR_RETURN_IF_ERROR(CheckKind(vertex));
    WEIR_RETURN_IF_ERROR(CheckScope(vertex));
    vertex->input_types.clear();
    return CheckTypes(vertex);
  }

 private:
  using Step = absl::Status (FlowChecker::*)(FlowVertex* vertex);

  absl::Status Fault(const FlowVertex& vertex, std::string_view message) const {
    const std::string place =
        vertex.location.known() ? Shown(vertex.location.ToString()) + ": " : "";
    return InvalidArgument(place, "'", Shown(vertex.name), "' (", Shown(vertex.kind),
                           "): ", message);
  }

  absl::Status ForEach(Step step) {
    for (FlowVertex& vertex : flow_.vertices) WEIR_RETURN_IF_ERROR((this->*step)(&vertex));
    return absl::OkStatus();
  }

  void FindReaders() {
    readers_.resize(flow_.vertices.size());
    for (FlowVertex& vertex : flow_.vertices) {
      for (const FlowPort& input : vertex.inputs) readers_[input.vertex.value()].push_back(&vertex);
    }
  }

  // For each vertex, and again for who reads from one of which something new was found.
  absl::Status Repeat(Step step) {
    std::deque<FlowVertex*> waiting;
    for (FlowVertex& vertex : flow_.vertices) waiting.push_back(&vertex);
    for (; !waiting.empty(); waiting.pop_front()) {
      found_ = false;
      WEIR_RETURN_IF_ERROR((this->*step)(waiting.front()));
      if (!found_) continue;
      const auto& readers = readers_[waiting.front() - flow_.vertices.data()];
      waiting.insert(waiting.end(), readers.begin(), readers.end());
    }
    return absl::OkStatus();
  }

  absl::Status CheckLoops() const {
    std::set<std::string, std::less<>> names;
    for (size_t i = 0; i < flow_.loops.size(); ++i) {
      const FlowLoop& loop = flow_.loops[i];
      if (!names.insert(loop.name).second) {
        return InvalidArgument("there are two loops with the name '", Shown(loop.name), "'");
      }
      if (loop.parent.value() < 0 || loop.parent.value() > static_cast<int64_t>(i)) {
        return InvalidArgument("loop '", Shown(loop.name),
                               "' is in one that is not declared before it");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckForm(FlowVertex* vertex) {
    if (!names_.insert(vertex->name).second) return Fault(*vertex, "the name is taken already");
    return CheckKind(vertex);
  }

  absl::Status CheckKind(FlowVertex* vertex) {
    vertex->def = FindVertexKind(vertex->kind);
    if (vertex->def == nullptr) {
      std::vector<std::string_view> kinds;
      for (const VertexKind& kind : AllVertexKinds()) kinds.push_back(kind.name);
      return Fault(*vertex, "there is no such kind of vertex" + Hint(vertex->kind, kinds));
    }
    const VertexKind& kind = *vertex->def;
    const int inputs = static_cast<int>(vertex->inputs.size());
    if (inputs < kind.min_inputs || inputs > kind.max_inputs) {
      return Fault(*vertex, StrCat("it has ", inputs, " inputs and takes ", kind.min_inputs,
                                   kind.max_inputs > kind.min_inputs ? " or more" : ""));
    }
    for (const FlowPort& input : vertex->inputs) {
      const int64_t from = input.vertex.value();
      const bool exists = from >= 0 && from < static_cast<int64_t>(flow_.vertices.size());
      if (!exists) return Fault(*vertex, "an input comes from a vertex that is not there");
    }
    return CheckAttrs(*vertex);
  }

  absl::Status CheckAttrs(const FlowVertex& vertex) const {
    for (const FlowAttr& def : vertex.def->attrs) {
      const Attr* attr = vertex.FindAttr(def.name);
      if (attr == nullptr && def.required) {
        return Fault(vertex, StrCat("it needs the attribute '", def.name, "': ", def.what));
      }
      if (attr != nullptr && attr->kind() != def.kind) {
        return Fault(vertex, StrCat("attribute '", def.name, "' is ", AttrKindName(attr->kind()),
                                    ", not ", AttrKindName(def.kind), ": ", def.what));
      }
    }
    for (const auto& [name, attr] : vertex.attrs) {
      std::vector<std::string_view> names;
      for (const FlowAttr& def : vertex.def->attrs) names.push_back(def.name);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return Fault(vertex, "it has no attribute '" + Shown(name) + "'" + Hint(name, names));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ScopeId> LoopOf(const FlowVertex& vertex) const {
    const std::string& name = vertex.attr("loop").AsString();
    for (size_t i = 0; i < flow_.loops.size(); ++i) {
      if (flow_.loops[i].name == name) return ScopeId(static_cast<int64_t>(i) + 1);
    }
    return Fault(vertex, "there is no loop '" + Shown(name) + "'");
  }

  void SetScope(ScopeId* scope, ScopeId value) {
    if (*scope == value) return;
    *scope = value;
    found_ = true;
  }

  absl::Status InferScope(FlowVertex* vertex) {
    if (vertex->scope.valid()) return absl::OkStatus();
    ScopeId scope = vertex->inputs.empty() ? LogicalGraph::kRoot : ScopeId();
    for (const FlowPort& input : vertex->inputs) {
      if (!scope.valid()) scope = flow_.vertex(input.vertex).output_scope;
    }
    if (vertex->def->scope == VertexKind::Scope::kEnter) {
      WEIR_ASSIGN_OR_RETURN(const ScopeId loop, LoopOf(*vertex));
      SetScope(&vertex->output_scope, loop);
      SetScope(&vertex->scope, flow_.loops[loop.value() - 1].parent);
      return absl::OkStatus();
    }
    if (!scope.valid()) return absl::OkStatus();
    SetScope(&vertex->scope, scope);
    if (vertex->def->scope == VertexKind::Scope::kSame) {
      SetScope(&vertex->output_scope, scope);
    } else if (scope == LogicalGraph::kRoot) {
      return Fault(*vertex, "it leaves a loop, but its input is in none");
    } else {
      SetScope(&vertex->output_scope, flow_.loops[scope.value() - 1].parent);
    }
    return absl::OkStatus();
  }

  std::string NameOf(ScopeId scope) const {
    if (scope == LogicalGraph::kRoot) return "outside of loops";
    return "in loop '" + Shown(flow_.loops[scope.value() - 1].name) + "'";
  }

  absl::Status CheckReached(FlowVertex* vertex) {
    if (vertex->scope.valid()) return absl::OkStatus();
    return Fault(*vertex, "no data can come to it: it stands in a cycle that nothing enters");
  }

  absl::Status CheckScope(FlowVertex* vertex) {
    for (const FlowPort& input : vertex->inputs) {
      const FlowVertex& from = flow_.vertex(input.vertex);
      if (input.output < 0 || input.output >= from.def->outputs) {
        return Fault(*vertex, StrCat("'", Shown(from.name), "' has no output ", input.output));
      }
      if (from.output_scope == vertex->scope) continue;
      return Fault(*vertex, StrCat("'", Shown(from.name), "' is ", NameOf(from.output_scope),
                                   " and cannot be read ", NameOf(vertex->scope),
                                   "; use 'enter' or 'leave'"));
    }
    return absl::OkStatus();
  }

  std::vector<const RecordType*> InputTypes(const FlowVertex& vertex) const {
    std::vector<const RecordType*> types;
    for (const FlowPort& input : vertex.inputs) {
      const std::vector<RecordType>& outputs = flow_.vertex(input.vertex).output_types;
      types.push_back(outputs.empty() ? nullptr : &outputs[input.output]);
    }
    return types;
  }

  absl::StatusOr<std::optional<std::vector<RecordType>>> Infer(const FlowVertex& vertex) const {
    return InferFrom(vertex, InputTypes(vertex));
  }

  absl::StatusOr<std::optional<std::vector<RecordType>>> InferFrom(
      const FlowVertex& vertex, absl::Span<const RecordType* const> inputs) const {
    auto types = vertex.def->infer({flow_, vertex, inputs});
    if (!types.ok()) return Fault(vertex, StrCat(types.status().message()));
    for (const RecordType& type : types->value_or(std::vector<RecordType>())) {
      const absl::Status legal = CheckRecordType(type);
      if (!legal.ok()) return Fault(vertex, StrCat(legal.message()));
    }
    return types;
  }

  absl::Status InferTypes(FlowVertex* vertex) {
    if (!vertex->output_types.empty() || vertex->def->outputs == 0) return absl::OkStatus();
    WEIR_ASSIGN_OR_RETURN(auto types, Infer(*vertex));
    if (!types) return absl::OkStatus();
    vertex->output_types = *std::move(types);
    found_ = true;
    return absl::OkStatus();
  }

  absl::Status CheckTypes(FlowVertex* vertex) {
    for (const RecordType* type : InputTypes(*vertex)) {
      if (type == nullptr) return Fault(*vertex, "the type of its records follows from nothing");
      vertex->input_types.push_back(*type);
    }
    WEIR_ASSIGN_OR_RETURN(auto types, Infer(*vertex));
    if (vertex->output_types == types.value_or(std::vector<RecordType>())) return absl::OkStatus();
    return Fault(*vertex, "the types of its inputs do not agree");
  }

  Flow& flow_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::vector<FlowVertex*>> readers_;  // of each vertex
  bool found_ = false;                             // something new of the vertex of this step
};

}  // namespace

absl::Status CheckFlow(Flow* flow) { return FlowChecker(flow).Check(); }

absl::Status CheckLastVertex(Flow* flow) {
  return FlowChecker(flow).CheckNew(&flow->vertices.back());
}

absl::Status CheckOpenVertex(Flow* flow, ScopeId scope, const RecordType& type) {
  return FlowChecker(flow).CheckOpen(&flow->vertices.back(), scope, type);
}

absl::Status CheckVertexAgain(Flow* flow, VertexId vertex) {
  return FlowChecker(flow).CheckAgain(&flow->vertices[vertex.value()]);
}

LogicalGraph GraphOf(const Flow& flow) {
  LogicalGraph graph;
  for (const FlowLoop& loop : flow.loops) graph.AddScope(loop.parent, loop.name);
  for (const FlowVertex& vertex : flow.vertices) {
    const int depth = flow.DepthOf(vertex.scope);
    const VertexId id =
        graph.AddVertex(vertex.name, std::vector<ScopeId>(vertex.inputs.size(), vertex.scope),
                        std::vector<ScopeId>(vertex.def->outputs, vertex.output_scope));
    const PathSummary summary = SummaryOf(vertex, depth);
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      for (int o = 0; o < vertex.def->outputs; ++o) graph.AddSummary(id, i, o, summary);
    }
  }
  for (size_t v = 0; v < flow.vertices.size(); ++v) {
    const FlowVertex& vertex = flow.vertices[v];
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      graph.Connect({vertex.inputs[i].vertex, vertex.inputs[i].output},
                    {VertexId(static_cast<int64_t>(v)), static_cast<int>(i)});
    }
  }
  return graph;
}

}  // namespace weir
