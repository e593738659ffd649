#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Output 0 has the records for which the function is true, output 1 the others. Acts on arrival.
VertexKind SwitchKind() {
  VertexKind kind = {.name = "switch", .summary = "parts records in two by a function"};
  kind.outputs = 2;
  kind.attrs = {{"function", Attr::Kind::kString, true,
                 "from the columns of a record to one bool[]: whether it goes to output 0",
                 FlowAttr::Calls::kRecord}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckPredicate(context, "function"));
    return std::vector<RecordType>(2, *context.inputs[0]);
  };
  return kind;
}

}  // namespace weir
