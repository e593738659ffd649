// Checks that a graph is well formed: single producers, uses after definitions and in scope,
// control inputs in the same region, functions capture nothing, recorded types equal to inferred
// ones. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_VERIFY_H_
#define WEIR_COMMON_IR_VERIFY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/ir/graph.h"
#include "common/ir/op_catalog.h"

namespace weir {

// Returns: INVALID_ARGUMENT naming node, op, shapes and source location of the first fault.
absl::Status Verify(const Graph& graph, const OpCatalog& catalog);

// Regions nested deeper than this are a fault, so that recursion over regions needs no check.
inline constexpr int kMaxRegionDepth = 256;

// Returns: an error for a negative extent or a size that no machine has.
absl::Status CheckType(const TensorType& type);
// Compares what is written with what the op's rule gives. Returns: an error without the node's
// name.
absl::Status CheckOutputTypes(const Graph& graph, const Node& node, const OpCatalog& catalog);
// Returns: `f32[2], i64[]`, the types of the values.
std::string TypesToString(const Graph& graph, absl::Span<const ValueId> values);

}  // namespace weir

#endif  // WEIR_COMMON_IR_VERIFY_H_
