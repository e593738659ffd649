#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind LeaveKind() {
  VertexKind kind = {.name = "leave", .summary = "brings records out of a loop, whatever the trip"};
  kind.scope = VertexKind::Scope::kLeave;
  kind.infer = SameAsInput;
  kind.summarize = [](const FlowVertex&, int depth) { return PathSummary::Leave(depth); };
  return kind;
}

}  // namespace weir
