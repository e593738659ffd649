#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Keeps the records of a time until it is complete; nothing comes out if none came.
//
// Without a function: all records of the time in the order of Sorted, as they came, in one frame
// behind the other.
//
// With one: records that are equal in origin and content are one, with the sum of their weights,
// and those with the sum 0 are gone. In order (origin, content), each stands as many times as its
// weight says; a weight below zero or above kMaxRepeats, and more than kMaxCollectedRows rows, are
// errors. If rows are left, the function is called once for all of them. What it returns are the
// records that come out, with weight 1; its results must have equal leading extents. If these are
// the symbol of the parameters (f32[n,3] -> f32[n]), row i has the origin of row i; otherwise all
// rows have the least origin.
VertexKind CollectKind() {
  VertexKind kind = {.name = "collect",
                     .summary = "all records of a time, in order, on one worker"};
  kind.attrs = {{"function", Attr::Kind::kString, false,
                 "from columns of all records, such as f32[n,3], to columns of any number of them",
                 FlowAttr::Calls::kBatch}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    if (context.vertex.FindAttr("function") == nullptr) return SameAsInput(context);
    WEIR_ASSIGN_OR_RETURN(RecordType type, context.CallBatch("function", *context.inputs[0]));
    return OneOutput(std::move(type));
  };
  kind.route = [](const FlowVertex&, int) { return Routing{Routing::To::kRoot, 0}; };
  return kind;
}

}  // namespace weir
