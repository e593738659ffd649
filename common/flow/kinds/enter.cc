#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// From the scope around a loop into one of its trips.
VertexKind EnterKind() {
  VertexKind kind = {.name = "enter", .summary = "brings records into a loop"};
  kind.scope = VertexKind::Scope::kEnter;
  kind.attrs = {{"loop", Attr::Kind::kString, true, "its name"},
                {"trip", Attr::Kind::kInt, false, "the trip that they come into; 0 if left out"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "trip", 0, kMaxInt64));
    return SameAsInput(context);
  };
  kind.summarize = [](const FlowVertex& vertex, int depth) {
    return PathSummary::Enter(depth, vertex.IntOr("trip", 0));
  };
  return kind;
}

}  // namespace weir
