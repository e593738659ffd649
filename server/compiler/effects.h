// What a node does besides making its outputs. Stateless; usable from any thread.
#ifndef WEIR_SERVER_COMPILER_EFFECTS_H_
#define WEIR_SERVER_COMPILER_EFFECTS_H_

#include "common/ir/graph.h"

namespace weir {

// Whether the node, or one in its regions, has an effect, or is of an op that nobody knows.
bool HasEffect(const Graph& graph, NodeId id);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_EFFECTS_H_
