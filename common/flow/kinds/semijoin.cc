#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Input 0 is left, input 1 right; both have the same key types, and of right records only the keys
// matter. A key is there while the sum of the weights of its right records is above 0. Left records
// come out, with their weight and origin, if their key is there.
//
// State "time": of both inputs only records of one time count. With "loop" and "job", at a complete
// time t: the left records of t whose key is there at t; all left ones before t whose key begins to
// be there at t; and all left ones before t whose key ceases to be there at t, with their weights
// negated. So the sum of what came out up to t is what is left up to t and whose key is there at t.
// Weights may be below zero.
VertexKind SemijoinKind() {
  VertexKind kind = {.name = "semijoin",
                     .summary = "the records of input 0 whose keys are in input 1"};
  kind.min_inputs = kind.max_inputs = 2;
  kind.origins = VertexKind::Origins::kFirstInput;
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns are the key; 0: any record of input 1 will do"}};
  AddStateAttr(&kind);
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    if (context.inputs[0] == nullptr || context.inputs[1] == nullptr) return NotKnownYet();
    WEIR_RETURN_IF_ERROR(CheckSameKeys(context));
    return SameAsInput(context);
  };
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
