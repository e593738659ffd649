// Passes that keep the meaning and make a graph smaller. Each is linear in the graph; stateless.
#ifndef WEIR_SERVER_COMPILER_OPTIMIZE_SIMPLIFY_H_
#define WEIR_SERVER_COMPILER_OPTIMIZE_SIMPLIFY_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "server/compiler/pass.h"

namespace weir {

// Evaluates nodes whose operands are constants (results of at most 16 MiB and four times the
// operands' bytes), and sizes of dimensions that are numbers.
absl::Status FoldConstants(Graph* graph, const CompileOptions& options, CompileReport* report);
// Local rewrites: movements that change nothing go away, chains of one movement become one.
absl::Status Canonicalize(Graph* graph, const CompileOptions& options, CompileReport* report);
// Replaces a node by an equal one (op, operands, attributes) of the same or an enclosing region.
absl::Status EliminateCommonSubexpressions(Graph* graph, const CompileOptions& options,
                                           CompileReport* report);
// Drops pure nodes that nothing uses, and functions that the entry does not reach.
absl::Status EliminateDeadCode(Graph* graph, const CompileOptions& options, CompileReport* report);
// Replaces calls of functions that do not recurse by their bodies.
absl::Status InlineCalls(Graph* graph, const CompileOptions& options, CompileReport* report);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_OPTIMIZE_SIMPLIFY_H_
