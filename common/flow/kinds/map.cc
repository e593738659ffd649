#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind MapKind() {
  VertexKind kind = {.name = "map", .summary = "calls a function for each record"};
  kind.attrs = {{"function", Attr::Kind::kString, true, "from the columns of a record to new ones",
                 FlowAttr::Calls::kRecord}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_ASSIGN_OR_RETURN(RecordType type, context.Call("function", *context.inputs[0]));
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
