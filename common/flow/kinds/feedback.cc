#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind FeedbackKind() {
  VertexKind kind = {.name = "feedback", .summary = "brings records into the next trip of a loop"};
  kind.attrs = {{"bound", Attr::Kind::kInt, false,
                 "trips at most; what would begin another one is dropped and counted"}};
  kind.infer = SameAsInput;
  kind.summarize = [](const FlowVertex&, int depth) { return PathSummary::Advance(depth, depth); };
  return kind;
}

}  // namespace weir
