#include "common/base/status.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {

// A record whose function fails (a `check`, say) stops the flow, or with on_failure = "drop" is
// left out, and who fed it is told why.
VertexKind MapKind() {
  VertexKind kind = {.name = "map", .summary = "calls a function for each record"};
  kind.attrs = {{"function", Attr::Kind::kString, true, "from the columns of a record to new ones",
                 FlowAttr::Calls::kRecord},
                {"on_failure", Attr::Kind::kString, false,
                 "what becomes of a record that fails: stop the flow (if it is left out) or drop"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const std::string on_failure = context.vertex.StringOr("on_failure", "stop");
    if (on_failure != "stop" && on_failure != "drop") {
      return InvalidArgument("on_failure = ", Quote(on_failure), "; it is stop or drop");
    }
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_ASSIGN_OR_RETURN(RecordType type, context.Call("function", *context.inputs[0]));
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
