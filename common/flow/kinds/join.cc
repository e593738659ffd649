#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Input 0 is left, input 1 right; both have the same key types. A pair of records with equal keys
// gives one record: the keys, the left values, the right values; its weight is the product of both,
// its origin that of the left one.
//
// State "time": all pairs of records of one time. With "loop" and "job", at a complete time t the
// left records of t meet all right ones up to t, and the right ones of t all left ones before t; so
// the sum of what came out up to t are all pairs up to t, and every pair comes out at the later of
// its times. What is "up to t" are trips of the same loop (loop) or the total order of times (job).
// Weights may be below zero.
VertexKind JoinKind() {
  VertexKind kind = {.name = "join", .summary = "pairs of records of two inputs with equal keys"};
  kind.min_inputs = kind.max_inputs = 2;
  kind.origins = VertexKind::Origins::kFirstInput;
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns are the key; 0: each meets each"}};
  AddStateAttr(&kind);
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr || context.inputs[1] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckSameKeys(context));
    const RecordType& right = *context.inputs[1];
    RecordType type = *context.inputs[0];
    type.insert(type.end(), right.begin() + context.vertex.attr("keys").AsInt(), right.end());
    return OneOutput(std::move(type));
  };
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
