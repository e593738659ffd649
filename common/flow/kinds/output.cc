#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Records go to the client, who sees epochs and no trips.
VertexKind OutputKind() {
  VertexKind kind = {.name = "output", .summary = "records and their times go to the client"};
  kind.outputs = 0;
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.vertex.scope == LogicalGraph::kRoot) return NotKnownYet();
    return InvalidArgument("it is in a loop; use 'leave' first");
  };
  return kind;
}

}  // namespace weir
