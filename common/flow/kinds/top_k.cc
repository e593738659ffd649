#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

using Types = absl::StatusOr<std::optional<std::vector<RecordType>>>;

Types Infer(const KindContext& context) {
  const FlowVertex& vertex = context.vertex;
  if (context.inputs[0] == nullptr) return NotKnownYet();
  const RecordType& records = *context.inputs[0];
  WEIR_RETURN_IF_ERROR(CheckKeys(vertex, records));
  WEIR_RETURN_IF_ERROR(CheckKeyedState(vertex));
  WEIR_RETURN_IF_ERROR(CheckRange(vertex, "k", 1, kMaxInt64));
  const int64_t keys = vertex.attr("keys").AsInt();
  const int64_t by = vertex.attr("by").AsInt();
  if (by < keys || by >= static_cast<int64_t>(records.size())) {
    return InvalidArgument("by = ", by, "; it is a column behind the ", keys,
                           " of the key, and records are ", ToString(records));
  }
  const TensorType& order = records[by];
  if (order.rank() == 0 && (IsFloat(order.dtype) || IsInteger(order.dtype))) {
    return SameAsInput(context);
  }
  return InvalidArgument("by = ", by, " is a column of ", order.ToString(),
                         "; it is one number of each record");
}

}  // namespace

// Equal records of a key are one, with the sum of their weights; those with a sum above 0 are
// there. They stand in the order of column `by`, the largest first, and where that is equal (0 and
// -0 are; NaN is equal to NaN and comes last) in the order of their content (RecordRows::Compare).
// Each takes as many places as its weight says; the result are the first k places of each key, so
// the last record may come out with less weight than it has.
//
// A record has the least of its origins in the time in which it began to be there. The result of a
// key is all that is in its k places. State and emit as in keyed_state.h: when weights or records
// there differ, "updates" gives all that is there now, "changes" only the differences: what has
// gone with weights below zero, what is new or more with weights above.
VertexKind TopKKind() {
  VertexKind kind = {.name = "top_k",
                     .summary = "the k records of each key with the largest values"};
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns are the key; 0: all records are one group"},
                {"k", Attr::Kind::kInt, true, "how many are kept, 1 or more"},
                {"by", Attr::Kind::kInt, true, "the column, one number, that is compared"}};
  AddKeyedStateAttrs(&kind);
  kind.infer = Infer;
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
