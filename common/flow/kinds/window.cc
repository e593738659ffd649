#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

using Types = absl::StatusOr<std::optional<std::vector<RecordType>>>;

Types Infer(const KindContext& context) {
  const FlowVertex& vertex = context.vertex;
  WEIR_RETURN_IF_ERROR(CheckRange(vertex, "size", 1, kMaxInt64));
  WEIR_RETURN_IF_ERROR(CheckRange(vertex, "slide", 1, kMaxInt64));
  const int64_t size = vertex.attr("size").AsInt();
  const int64_t slide = vertex.IntOr("slide", size);
  const int64_t windows = (size - 1) / slide + 1;
  if (windows > kMaxWindowsPerRecord) {
    return InvalidArgument("size = ", size, " and slide = ", slide, " put a record into ", windows,
                           " windows; up to ", kMaxWindowsPerRecord, " are possible");
  }
  if (vertex.scope != LogicalGraph::kRoot) {
    return InvalidArgument("windows are made of epochs, and it is in a loop");
  }
  return SameAsInput(context);
}

}  // namespace

// Window k holds the epochs from k * slide to k * slide + size - 1, k = 0, 1, ... A record of epoch
// e comes out once for each window that holds e, at the time of the last epoch of the window, with
// its origin and weight. So what comes out at one time is one window, and a vertex behind it with
// state "time" sees windows. Epochs between windows (slide > size) are dropped, and so is what
// would come out in an epoch beyond int64. Acts on arrival.
VertexKind WindowKind() {
  VertexKind kind = {.name = "window",
                     .summary = "brings records of several epochs together, in the last of them"};
  kind.attrs = {{"size", Attr::Kind::kInt, true, "epochs of a window, 1 or more"},
                {"slide", Attr::Kind::kInt, false,
                 "epochs from the beginning of a window to that of the next; `size` if left out"}};
  kind.infer = Infer;
  return kind;
}

}  // namespace weir
