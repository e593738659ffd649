// What kinds of vertices with state by key have in common: how long the state lives, and what comes
// out when it changes. Stateless; usable from any thread.
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

// Attribute `emit`, for state that outlives a time: what comes out for keys that the time touched.
enum class Emit {
  // "updates": the new result if it differs from the one before, with weight 1; records that come
  // in
  // must have positive weights. The default.
  kUpdates,
  // "changes": the old result with weight -1 and the new one with weight 1, so that the sum of all
  // that came out is the result.
  kChanges,
};

StateLife LifeOf(const FlowVertex& vertex);
Emit EmitOf(const FlowVertex& vertex);

void AddKeyedStateAttrs(VertexKind* kind);
// Errors: an unknown word, "loop" outside of loops, "changes" for state that dies with its time.
absl::Status CheckKeyedState(const FlowVertex& vertex);
// By the first `keys` columns; without keys, to one worker.
Routing RouteByKeys(const FlowVertex& vertex, int input);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_KEYED_STATE_H_
