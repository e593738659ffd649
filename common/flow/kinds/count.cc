#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// For each key the sum of the weights of its records: what reduce_by_key gives for "count". A key
// is there while its sum is not 0. State and emit as in keyed_state.h.
VertexKind CountKind() {
  VertexKind kind = {.name = "count",
                     .summary = "one record for each key, with how many there are"};
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns are the key; 0: all records are one group"}};
  AddKeyedStateAttrs(&kind);
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr) return NotKnownYet();
    const RecordType& records = *context.inputs[0];
    WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, records));
    WEIR_RETURN_IF_ERROR(CheckKeyedState(context.vertex));
    RecordType type(records.begin(), records.begin() + context.vertex.attr("keys").AsInt());
    type.push_back({DType::kI64, Shape()});
    return OneOutput(std::move(type));
  };
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
