#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Records come from a client, in the epoch that it says; or one by one in calls of many clients,
// which the coordinator puts into epochs of its own.
VertexKind InputKind() {
  VertexKind kind = {.name = "input", .summary = "records from outside, by epoch"};
  kind.min_inputs = kind.max_inputs = 0;
  kind.attrs = {
      {"types", Attr::Kind::kStrings, true, "the columns, such as [\"i64[]\", \"f32[3]\"]"},
      {"max_batch", Attr::Kind::kInt, false,
       "how many calls are in one epoch at most; 64 if left out"},
      {"max_wait_us", Attr::Kind::kInt, false,
       "how long a call waits for others, in microseconds; if left out, while epochs are under "
       "way"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "max_batch", 1, kMaxBatch));
    WEIR_RETURN_IF_ERROR(CheckRange(context.vertex, "max_wait_us", 0, kMaxWaitUs));
    WEIR_ASSIGN_OR_RETURN(RecordType type,
                          RecordTypeFrom(context.vertex.attr("types").AsStrings()));
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
