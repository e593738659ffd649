#include "common/flow/keyed_state.h"

#include "common/base/status.h"

namespace weir {

StateLife LifeOf(const FlowVertex& vertex) {
  const std::string state = vertex.StringOr("state", "time");
  if (state == "job") return StateLife::kJob;
  return state == "loop" ? StateLife::kLoop : StateLife::kTime;
}

Emit EmitOf(const FlowVertex& vertex) {
  return vertex.StringOr("emit", "updates") == "changes" ? Emit::kChanges : Emit::kUpdates;
}

void AddKeyedStateAttrs(VertexKind* kind) {
  kind->attrs.push_back({"state", Attr::Kind::kString, false,
                         "how long state lives: time (if it is left out), loop or job"});
  kind->attrs.push_back(
      {"emit", Attr::Kind::kString, false,
       "what comes out when state changes: updates (if it is left out) or changes"});
}

absl::Status CheckKeyedState(const FlowVertex& vertex) {
  const std::string state = vertex.StringOr("state", "time");
  if (state != "time" && state != "loop" && state != "job") {
    return InvalidArgument("state = \"", state, "\"; it is time, loop or job");
  }
  if (state == "loop" && vertex.scope == LogicalGraph::kRoot) {
    return InvalidArgument("state = \"loop\", but it is in no loop");
  }
  const std::string emit = vertex.StringOr("emit", "updates");
  if (emit != "updates" && emit != "changes") {
    return InvalidArgument("emit = \"", emit, "\"; it is updates or changes");
  }
  if (emit == "changes" && state == "time") {
    return InvalidArgument("emit = \"changes\" needs state that outlives a time: loop or job");
  }
  return absl::OkStatus();
}

Routing RouteByKeys(const FlowVertex& vertex, int) {
  const int keys = static_cast<int>(vertex.attr("keys").AsInt());
  if (keys == 0) return {Routing::To::kRoot, 0};
  return {Routing::To::kKey, keys};
}

}  // namespace weir
