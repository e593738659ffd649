// Converts one pfor node: its body is rewritten so that all iterations of a range run together.
// Owned by the pfor pass; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_PFOR_CONVERT_H_
#define WEIR_SERVER_COMPILER_PFOR_CONVERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "common/ir/graph.h"
#include "server/compiler/pfor/symbols.h"
#include "server/compiler/report.h"

namespace weir {

// Converts `pfor` into a `shard` node appended by `parent`, whose region handles a range of
// iterations of a fresh symbolic length. Nodes that do not vary go in front of it. REQUIRES: pfors
// inside the body are converted already, but for those whose rule does it. Returns: what replaces
// the node's outputs. Errors name node and location.
absl::StatusOr<std::vector<ValueId>> ConvertToShard(Graph* graph, NodeId pfor, Builder parent,
                                                    Symbols* symbols, CompileReport* report);

// Converts a pfor that lies in the body of another one: its nodes go straight into `parent`, for
// the whole range, and the outer conversion sees ordinary nodes.
absl::StatusOr<std::vector<ValueId>> ConvertInline(Graph* graph, NodeId pfor, Builder parent,
                                                   Symbols* symbols, CompileReport* report);

// Converts a pfor with a count that lies in no other one into a `ragged_rows` node in `parent`.
absl::StatusOr<std::vector<ValueId>> ConvertToRaggedRows(Graph* graph, NodeId pfor, Builder parent,
                                                         Symbols* symbols, CompileReport* report);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PFOR_CONVERT_H_
