#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// The whole record is the key. It is there while the sum of its weights is above 0, and then comes
// out with weight 1, whatever the sum. State and emit as in keyed_state.h: with "updates" a record
// comes out when it begins to be there, with "changes" it is also taken back when it ceases to be.
VertexKind DistinctKind() {
  VertexKind kind = {.name = "distinct", .summary = "each record once, however often it came"};
  AddKeyedStateAttrs(&kind);
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckKeyedState(context.vertex));
    return SameAsInput(context);
  };
  kind.route = [](const FlowVertex& vertex, int) {
    return Routing{Routing::To::kKey, static_cast<int>(vertex.input_types[0].size())};
  };
  return kind;
}

}  // namespace weir
