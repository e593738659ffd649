// What kinds of vertices with state by key have in common: how long the state lives, and what comes
// out when it changes. Stateless; usable from any thread.
//
// They act when a time is complete, if a record came for it. First, records of the time that are
// equal in origin and content are one, with the sum of their weights, and those with the sum 0 are
// gone; so results depend neither on arrival nor on how weights were split. A key is touched by a
// time if records of it are left. "In order" means by origin, then by content (Sorted).
//
// What comes out has the least origin of the records of the time with this key, if the kind does
// not say otherwise. What is taken back (weight -1) has the origin that it came with.
#ifndef WEIR_COMMON_FLOW_KEYED_STATE_H_
#define WEIR_COMMON_FLOW_KEYED_STATE_H_

#include "absl/status/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Attribute `state`. Times are taken one after the other in the order of the vertex's frontier.
enum class StateLife {
  kTime,  // "time": each time stands for itself; the default
  kLoop,  // "loop": over the trips of the innermost loop, anew for each time outside of it
  kJob,   // "job": over all times, in the total order of times
};

// Attribute `emit`, for state that outlives a time: what comes out for keys that the time touched,
// if the result has another content than before. With state "time" there is no before, and it is
// the result with weight 1.
enum class Emit {
  // "updates": the new result with weight 1. A record that is left with a weight below zero is an
  // error, because nobody would be told what is gone. The default.
  kUpdates,
  // "changes": the old result with weight -1 and the new one with weight 1, so that the sum of all
  // that came out is the result.
  kChanges,
};

StateLife LifeOf(const FlowVertex& vertex);
Emit EmitOf(const FlowVertex& vertex);

// Attribute `state`.
void AddStateAttr(VertexKind* kind);
// Attributes `state` and `emit`.
void AddKeyedStateAttrs(VertexKind* kind);
// Errors: an unknown word, "loop" outside of loops, "changes" for state that dies with its time.
absl::Status CheckKeyedState(const FlowVertex& vertex);
// For kinds with two inputs: the attributes, and that the keys have equal types.
// REQUIRES: both inputs are known.
absl::Status CheckSameKeys(const KindContext& context);
// By the first `keys` columns; without keys, to one worker.
Routing RouteByKeys(const FlowVertex& vertex, int input);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_KEYED_STATE_H_
