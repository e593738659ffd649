// The pass that keeps varying contractions as their operands where only sums over iterations, norms
// and dot products of them are wanted. Stateless.
#ifndef WEIR_SERVER_COMPILER_FACTORED_FACTORED_H_
#define WEIR_SERVER_COMPILER_FACTORED_FACTORED_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "server/compiler/pass.h"

namespace weir {

// Contracts operands in place of sums of their products, and drops what nobody uses then; notes
// each in the report. REQUIRES: no iteration_reduce is left.
absl::Status KeepFactored(Graph* graph, const CompileOptions& options, CompileReport* report);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_FACTORED_FACTORED_H_
