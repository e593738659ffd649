#include "common/flow/keyed_state.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ir/lexer.h"

namespace weir {

StateLife LifeOf(const FlowVertex& vertex) {
  const std::string state = vertex.StringOr("state", "time");
  if (state == "job") return StateLife::kJob;
  return state == "loop" ? StateLife::kLoop : StateLife::kTime;
}

Emit EmitOf(const FlowVertex& vertex) {
  return vertex.StringOr("emit", "updates") == "changes" ? Emit::kChanges : Emit::kUpdates;
}

void AddStateAttr(VertexKind* kind) {
  kind->attrs.push_back({"state", Attr::Kind::kString, false,
                         "how long state lives: time (if it is left out), loop or job"});
}

void AddKeyedStateAttrs(VertexKind* kind) {
  AddStateAttr(kind);
  kind->attrs.push_back(
      {"emit", Attr::Kind::kString, false,
       "what comes out when state changes: updates (if it is left out) or changes"});
}

absl::Status CheckKeyedState(const FlowVertex& vertex) {
  const std::string state = vertex.StringOr("state", "time");
  if (state != "time" && state != "loop" && state != "job") {
    return InvalidArgument("state = ", Quote(state), "; it is time, loop or job");
  }
  if (state == "loop" && vertex.scope == LogicalGraph::kRoot) {
    return InvalidArgument("state = \"loop\", but it is in no loop");
  }
  const std::string emit = vertex.StringOr("emit", "updates");
  if (emit != "updates" && emit != "changes") {
    return InvalidArgument("emit = ", Quote(emit), "; it is updates or changes");
  }
  if (emit == "changes" && state == "time") {
    return InvalidArgument("emit = \"changes\" needs state that outlives a time: loop or job");
  }
  return absl::OkStatus();
}

absl::Status CheckSameKeys(const KindContext& context) {
  const RecordType& left = *context.inputs[0];
  const RecordType& right = *context.inputs[1];
  WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, left));
  WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, right));
  WEIR_RETURN_IF_ERROR(CheckKeyedState(context.vertex));
  const int64_t keys = context.vertex.attr("keys").AsInt();
  if (std::equal(left.begin(), left.begin() + keys, right.begin())) return absl::OkStatus();
  return InvalidArgument("keys = ", keys, ", but the inputs have records of ", ToString(left),
                         " and ", ToString(right));
}

Routing RouteByKeys(const FlowVertex& vertex, int) {
  const int keys = static_cast<int>(vertex.attr("keys").AsInt());
  if (keys == 0) return {Routing::To::kRoot, 0};
  return {Routing::To::kKey, keys};
}

}  // namespace weir
