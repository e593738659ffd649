// The pfor pass: removes every pfor from a graph. Stateless.
#ifndef WEIR_SERVER_COMPILER_PFOR_PFOR_H_
#define WEIR_SERVER_COMPILER_PFOR_PFOR_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "server/compiler/pass.h"

namespace weir {

// Outermost pfors become `shard` nodes, nested ones plain nodes; with Loops::kSequential all become
// `for` nodes. Fallbacks are reported, and are INVALID_ARGUMENT if `strict`.
absl::Status RemovePfor(Graph* graph, const CompileOptions& options, CompileReport* report);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_PFOR_PFOR_H_
