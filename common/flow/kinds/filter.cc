#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

VertexKind FilterKind() {
  VertexKind kind = {.name = "filter", .summary = "keeps the records for which a function says so"};
  kind.attrs = {{"function", Attr::Kind::kString, true,
                 "from the columns of a record to one bool[]", FlowAttr::Calls::kRecord}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckPredicate(context, "function"));
    return SameAsInput(context);
  };
  return kind;
}

}  // namespace weir
