#include "common/flow/vertex_kind.h"

#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/ir/names.h"

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

// Errors: there is no such function.
absl::StatusOr<const Region*> FunctionOf(const KindContext& context, std::string_view attr) {
  const std::string& name = context.vertex.attr(attr).AsString();
  const Graph* graph = context.flow.functions.get();
  const Function* function = graph == nullptr ? nullptr : graph->FindFunction(name);
  if (function == nullptr) return InvalidArgument("there is no function @", NameText(name));
  return &graph->region(function->body);
}

// Of the first value; a number if there is no value or it has no axis.
Dim LeadingDim(const std::vector<ValueId>& values, const Graph& graph) {
  const bool none = values.empty() || graph.type(values[0]).rank() == 0;
  return none ? Dim() : graph.type(values[0]).shape[0];
}

TensorType WithRows(TensorType column, const Dim& rows) {
  column.shape.dims().insert(column.shape.dims().begin(), rows);
  return column;
}

}  // namespace

absl::StatusOr<RecordType> KindContext::Call(std::string_view attr,
                                             const RecordType& parameters) const {
  WEIR_ASSIGN_OR_RETURN(const Region* const body, FunctionOf(*this, attr));
  const Graph& graph = *flow.functions;
  const std::string& name = vertex.attr(attr).AsString();
  bool fits = body->args.size() == parameters.size();
  for (size_t i = 0; fits && i < parameters.size(); ++i) {
    fits = graph.type(body->args[i]) == parameters[i];
  }
  if (!fits) {
    return InvalidArgument("@", NameText(name), " takes ", Columns(body->args, graph),
                           " and is given ", ToString(parameters));
  }
  RecordType results;
  for (const ValueId result : body->results) {
    results.push_back(graph.type(result));
    if (results.back().shape.is_static()) continue;
    return InvalidArgument("@", NameText(name), " has a result of type ", results.back().ToString(),
                           "; columns of records have a fixed size");
  }
  return results;
}

absl::StatusOr<RecordType> KindContext::CallBatch(std::string_view attr,
                                                  const RecordType& records) const {
  WEIR_ASSIGN_OR_RETURN(const Region* const body, FunctionOf(*this, attr));
  const Graph& graph = *flow.functions;
  const std::string& name = vertex.attr(attr).AsString();
  const Dim rows = LeadingDim(body->args, graph);
  bool fits = body->args.size() == records.size() && rows.is_symbol();
  for (size_t i = 0; fits && i < records.size(); ++i) {
    fits = graph.type(body->args[i]) == WithRows(records[i], rows);
  }
  if (!fits) {
    RecordType wanted;
    for (const TensorType& column : records) wanted.push_back(WithRows(column, Dim::Symbol("n")));
    return InvalidArgument("@", NameText(name), " takes ", Columns(body->args, graph),
                           " and is given all records, ", ToString(wanted));
  }
  RecordType results;
  for (const ValueId result : body->results) {
    const TensorType& type = graph.type(result);
    TensorType row = type;
    if (row.rank() > 0) row.shape.dims().erase(row.shape.dims().begin());
    if (type.rank() == 0 || !row.shape.is_static()) {
      return InvalidArgument("@", NameText(name), " has a result of type ", type.ToString(),
                             "; it needs an axis of records, and the rest of a fixed size");
    }
    results.push_back(std::move(row));
  }
  return results;
}

std::map<std::string, FlowAttr::Calls, std::less<>> CalledFunctions(const Flow& flow) {
  std::map<std::string, FlowAttr::Calls, std::less<>> called;
  for (const FlowVertex& vertex : flow.vertices) {
    for (const FlowAttr& attr : vertex.def->attrs) {
      const Attr* const function = vertex.FindAttr(attr.name);
      if (function == nullptr || attr.calls == FlowAttr::Calls::kNothing) continue;
      called.emplace(function->AsString(), attr.calls);
    }
  }
  return called;
}

bool AnswersRowByRow(const Flow& flow, const FlowVertex& vertex, std::string_view attr) {
  const Graph& graph = *flow.functions;
  const Region& body = graph.region(graph.FindFunction(vertex.attr(attr).AsString())->body);
  const Dim rows = LeadingDim(body.args, graph);
  for (const ValueId result : body.results) {
    if (graph.type(result).shape[0] != rows) return false;
  }
  return true;
}

absl::StatusOr<std::optional<std::vector<RecordType>>> OneOutput(RecordType type) {
  return std::vector<RecordType>{std::move(type)};
}

absl::StatusOr<std::optional<std::vector<RecordType>>> NotKnownYet() { return std::nullopt; }

absl::StatusOr<std::optional<std::vector<RecordType>>> SameAsInput(const KindContext& context) {
  return context.inputs[0] == nullptr ? NotKnownYet() : OneOutput(*context.inputs[0]);
}

absl::StatusOr<RecordType> RecordTypeFrom(const std::vector<std::string>& columns) {
  RecordType type;
  for (const std::string& text : columns) {
    WEIR_ASSIGN_OR_RETURN(TensorType column, TensorType::Parse(text));
    if (!column.shape.is_static()) {
      return InvalidArgument("column type ", text, "; columns of records have a fixed size");
    }
    type.push_back(std::move(column));
  }
  return type;
}

absl::Status CheckRecordType(const RecordType& type) {
  if (type.empty()) return InvalidArgument("records need a column at least");
  int64_t bytes = 0;
  for (const TensorType& column : type) {
    if (column.rank() >= kMaxRank) {
      return InvalidArgument("a column of rank ", column.rank(), "; records have up to ",
                             kMaxRank - 1);
    }
    WEIR_ASSIGN_OR_RETURN(const int64_t elements,
                          CheckedNumElements(column.shape.extents(), column.dtype));
    const int64_t size = SizeOf(column.dtype);
    if (elements > (kMaxRecordBytes - bytes) / size) {
      return InvalidArgument("records of ", ToString(type), " have more than ", kMaxRecordBytes,
                             " bytes each");
    }
    bytes += elements * size;
  }
  return absl::OkStatus();
}

absl::Status CheckRange(const FlowVertex& vertex, std::string_view attr, int64_t least,
                        int64_t most) {
  const Attr* const found = vertex.FindAttr(attr);
  if (found == nullptr || (found->AsInt() >= least && found->AsInt() <= most)) {
    return absl::OkStatus();
  }
  const std::string bounds =
      most == kMaxInt64 ? StrCat("at least ", least) : StrCat("from ", least, " to ", most);
  return InvalidArgument(attr, " = ", found->AsInt(), "; it is ", bounds);
}

absl::Status CheckKeys(const FlowVertex& vertex, const RecordType& type) {
  const int64_t keys = vertex.attr("keys").AsInt();
  if (keys >= 0 && keys <= static_cast<int64_t>(type.size())) return absl::OkStatus();
  return InvalidArgument("keys = ", keys, ", but records are ", ToString(type));
}

absl::Status CheckPredicate(const KindContext& context, std::string_view attr) {
  WEIR_ASSIGN_OR_RETURN(const RecordType results, context.Call(attr, *context.inputs[0]));
  if (results == RecordType{{DType::kBool, Shape()}}) return absl::OkStatus();
  return InvalidArgument("the function returns ", ToString(results), ", not (bool[])");
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
