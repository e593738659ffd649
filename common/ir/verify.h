// Checks that a graph is well formed: single producers, uses after definitions and in scope,
// control inputs in the same region, functions capture nothing, recorded types equal to inferred
// ones. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_VERIFY_H_
#define WEIR_COMMON_IR_VERIFY_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "common/ir/op_catalog.h"

namespace weir {

// Returns: INVALID_ARGUMENT naming node, op, shapes and source location of the first fault.
absl::Status Verify(const Graph& graph, const OpCatalog& catalog);

}  // namespace weir

#endif  // WEIR_COMMON_IR_VERIFY_H_
