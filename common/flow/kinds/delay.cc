#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind DelayKind() {
  VertexKind kind = {.name = "delay", .summary = "brings records into a later epoch"};
  kind.attrs = {{"epochs", Attr::Kind::kInt, true, "how many epochs later, 1 or more"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const int64_t epochs = context.vertex.attr("epochs").AsInt();
    if (epochs < 1) return InvalidArgument("epochs = ", epochs, "; it is at least 1");
    return SameAsInput(context);
  };
  kind.summarize = [](const FlowVertex& vertex, int depth) {
    return PathSummary::Advance(depth, 0, vertex.attr("epochs").AsInt());
  };
  return kind;
}

}  // namespace weir
