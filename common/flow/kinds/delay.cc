#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Outside of loops or inside, where the trips stay what they are. An epoch beyond int64 is no time:
// what would have it is dropped.
VertexKind DelayKind() {
  VertexKind kind = {.name = "delay", .summary = "brings records into a later epoch"};
  kind.attrs = {{"epochs", Attr::Kind::kInt, true, "how many epochs later, 1 or more"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "epochs", 1, kMaxInt64));
    return SameAsInput(context);
  };
  kind.summarize = [](const FlowVertex& vertex, int depth) {
    return PathSummary::Advance(depth, 0, vertex.attr("epochs").AsInt());
  };
  return kind;
}

}  // namespace weir
