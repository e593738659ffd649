// Which channels hold up a vertex when they are full. Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_HELD_CHANNELS_H_
#define WEIR_WORKER_FLOW_HELD_CHANNELS_H_

#include <vector>

#include "common/flow/flow.h"

namespace weir {

// For each vertex the inputs before which it waits while channels to them are full: all that read
// from it if it is outside of loops, and all that read what leaves the loop into which it brings
// records; but none of its own cycle (through a `delay`), since what waits for itself waits for
// ever. What may enter a cycle is bounded, as what may enter a loop.
// REQUIRES: the flow is checked.
std::vector<std::vector<Port>> HoldingInputs(const Flow& flow);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_HELD_CHANNELS_H_
