#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// From trip i of the innermost loop into trip i + 1, if that is below the bound. Trips are numbered
// from 0, so a bound of 1 lets nothing go round.
VertexKind FeedbackKind() {
  VertexKind kind = {.name = "feedback", .summary = "brings records into the next trip of a loop"};
  kind.attrs = {{"bound", Attr::Kind::kInt, false,
                 "trips at most, 1 or more; what would begin another one is dropped and counted"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "bound", 1, kMaxInt64));
    if (context.vertex.scope == LogicalGraph::kRoot) {
      return InvalidArgument("it is in no loop; use 'delay' for a later epoch");
    }
    return SameAsInput(context);
  };
  kind.summarize = [](const FlowVertex&, int depth) { return PathSummary::Advance(depth, depth); };
  return kind;
}

}  // namespace weir
