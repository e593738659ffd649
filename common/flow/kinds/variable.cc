#include <algorithm>

#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/variable_value.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

using Types = absl::StatusOr<std::optional<std::vector<RecordType>>>;

// Errors: an order that there is not.
absl::Status CheckOrder(const FlowVertex& vertex) {
  const std::string order = vertex.StringOr("order", "time");
  if (order == "time" || order == "relaxed") return absl::OkStatus();
  return InvalidArgument("order = ", Quote(order), "; it is time or relaxed");
}

// Errors: `assign` does not make a value of a value and the columns of an update.
absl::Status CheckAssign(const KindContext& context, const RecordType& value) {
  WEIR_RETURN_IF_ERROR(CheckSameKeys(context));
  const RecordType& updates = *context.inputs[1];
  RecordType parameters = value;
  parameters.insert(parameters.end(), updates.begin() + context.vertex.attr("keys").AsInt(),
                    updates.end());
  WEIR_ASSIGN_OR_RETURN(const RecordType results, context.Call("assign", parameters));
  if (results == value) return absl::OkStatus();
  return InvalidArgument("'init' gives values of ", ToString(value), " and 'assign' returns ",
                         ToString(results));
}

// What comes out follows from what reads and from `init`, so updates may come of it.
Types Infer(const KindContext& context) {
  WEIR_RETURN_IF_ERROR(CheckOrder(context.vertex));
  if (context.inputs[0] == nullptr) return NotKnownYet();
  const RecordType& reads = *context.inputs[0];
  WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, reads));
  RecordType keys(reads.begin(), reads.begin() + context.vertex.attr("keys").AsInt());
  if (InitTakesNothing(context.flow, context.vertex)) keys.clear();
  WEIR_ASSIGN_OR_RETURN(const RecordType value, context.Call("init", keys));
  if (value.empty()) return InvalidArgument("'init' returns nothing; a value has a column or more");
  if (context.inputs[1] != nullptr) WEIR_RETURN_IF_ERROR(CheckAssign(context, value));
  RecordType type = reads;
  type.insert(type.end(), value.begin(), value.end());
  return OneOutput(std::move(type));
}

}  // namespace

// State that outlives times, as a variable of TensorFlow does: input 0 reads, input 1 updates. Each
// key has a value, some columns; without keys there is one. A record that reads comes out with the
// columns of its key's value behind its own, with its weight and origin. A record that updates
// makes `assign` of the value and its columns behind the key the key's new value, in one step;
// nothing comes out. The value of a key that nothing was assigned to is what `init` gives for the
// key, or for no parameters; reading it leaves nothing behind.
//
// order "time": acts when a time is complete at both inputs, in the total order of times. All
// updates of a time are assigned, in order (origin, content), each as many times as its weight says
// (a weight below zero or above kMaxRepeats is an error); then its reads see the values. So a read
// sees exactly the updates at its time and before: what is computed from a value at epoch e and
// comes back to input 1 through a `delay` of s epochs is seen from epoch e + s on, and s - 1 more
// epochs are under way meanwhile. (Were updates of the same time not seen, one epoch would be added
// to every delay, and no cycle could say that it wants the newest value.)
//
// order "relaxed": acts on arrival. A read sees the updates that have been assigned so far, those
// of later times too; each is assigned exactly once, whole, and as many times as its weight says.
// Results depend on timing: each run gives what some order of all reads and updates gives, and the
// reference executor that of order "time".
VertexKind VariableKind() {
  VertexKind kind = {.name = "variable",
                     .summary =
                         "records of input 0 with the value of their key, which records of "
                         "input 1 change"};
  kind.min_inputs = kind.max_inputs = 2;
  kind.origins = VertexKind::Origins::kFirstInput;
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns of both inputs are the key; 0: there is one value"},
                {"init", Attr::Kind::kString, true,
                 "from nothing, or from the key, to the columns of the value to begin with",
                 FlowAttr::Calls::kRecord},
                {"assign", Attr::Kind::kString, true,
                 "from the value and the columns of an update behind the key to the new value; "
                 "called in the order of origins",
                 FlowAttr::Calls::kRecord},
                {"order", Attr::Kind::kString, false,
                 "which updates a read sees: those at its time and before, time (if it is left "
                 "out), or those that came so far, relaxed"}};
  kind.infer = Infer;
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
