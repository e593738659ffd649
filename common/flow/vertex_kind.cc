#include "common/flow/vertex_kind.h"

#include <utility>

#include "common/base/status.h"

namespace weir {

#define WEIR_VERTEX(name) VertexKind name##Kind();
#include "common/flow/kind_list.inc"
#undef WEIR_VERTEX

namespace {

const std::vector<VertexKind>& Kinds() {
#define WEIR_VERTEX(name) name##Kind(),
  static const auto* kinds = new std::vector<VertexKind>{
#include "common/flow/kind_list.inc"
  };
#undef WEIR_VERTEX
  return *kinds;
}

std::string Columns(absl::Span<const ValueId> values, const Graph& graph) {
  RecordType type;
  for (const ValueId value : values) type.push_back(graph.type(value));
  return ToString(type);
}

}  // namespace

absl::StatusOr<RecordType> KindContext::Call(std::string_view attr,
                                             const RecordType& parameters) const {
  const std::string& name = vertex.attr(attr).AsString();
  const Graph* graph = flow.functions.get();
  const Function* function = graph == nullptr ? nullptr : graph->FindFunction(name);
  if (function == nullptr) return InvalidArgument("there is no function @", name);
  const Region& body = graph->region(function->body);
  bool fits = body.args.size() == parameters.size();
  for (size_t i = 0; fits && i < parameters.size(); ++i) {
    fits = graph->type(body.args[i]) == parameters[i];
  }
  if (!fits) {
    return InvalidArgument("@", name, " takes ", Columns(body.args, *graph), " and is given ",
                           ToString(parameters));
  }
  RecordType results;
  for (const ValueId result : body.results) {
    results.push_back(graph->type(result));
    if (results.back().shape.is_static()) continue;
    return InvalidArgument("@", name, " has a result of type ", results.back().ToString(),
                           "; columns of records have a fixed size");
  }
  return results;
}

absl::StatusOr<std::optional<std::vector<RecordType>>> OneOutput(RecordType type) {
  return std::vector<RecordType>{std::move(type)};
}

absl::StatusOr<std::optional<std::vector<RecordType>>> NotKnownYet() { return std::nullopt; }

absl::StatusOr<std::optional<std::vector<RecordType>>> SameAsInput(const KindContext& context) {
  return context.inputs[0] == nullptr ? NotKnownYet() : OneOutput(*context.inputs[0]);
}

absl::Status CheckKeys(const FlowVertex& vertex, const RecordType& type) {
  const int64_t keys = vertex.attr("keys").AsInt();
  if (keys >= 0 && keys <= static_cast<int64_t>(type.size())) return absl::OkStatus();
  return InvalidArgument("keys = ", keys, ", but records are ", ToString(type));
}

const VertexKind* FindVertexKind(std::string_view name) {
  for (const VertexKind& kind : Kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

absl::Span<const VertexKind> AllVertexKinds() { return Kinds(); }

PathSummary SummaryOf(const FlowVertex& vertex, int depth) {
  if (vertex.def->summarize != nullptr) return vertex.def->summarize(vertex, depth);
  return PathSummary::Identity(depth);
}

Routing RouteOf(const FlowVertex& vertex, int input) {
  return vertex.def->route == nullptr ? Routing() : vertex.def->route(vertex, input);
}

}  // namespace weir
