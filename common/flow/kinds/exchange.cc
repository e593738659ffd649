#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind ExchangeKind() {
  VertexKind kind = {.name = "exchange", .summary = "brings records with equal keys to one worker"};
  kind.attrs = {{"keys", Attr::Kind::kInt, true, "how many of the first columns are the key"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, *context.inputs[0]));
    return SameAsInput(context);
  };
  kind.route = [](const FlowVertex& vertex, int) {
    return Routing{Routing::To::kKey, static_cast<int>(vertex.attr("keys").AsInt())};
  };
  return kind;
}

}  // namespace weir
