#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Records go on as they came, and the first `limit` of each batch are written into the job's log.
// What stands in the log depends on how records were cut into batches; it is for people. Acts on
// arrival.
VertexKind InspectKind() {
  VertexKind kind = {.name = "inspect", .summary = "passes records on and logs some of them"};
  kind.attrs = {{"limit", Attr::Kind::kInt, false,
                 "lines at most for each batch, 0 or more; 10 if left out"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "limit", 0, kMaxInspectLines));
    return SameAsInput(context);
  };
  return kind;
}

}  // namespace weir
