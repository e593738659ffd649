// What functions of flows may not do, since they are called for one record and in any order: keep
// state, and meet other records. Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_CHECK_FUNCTIONS_H_
#define WEIR_COMMON_FLOW_CHECK_FUNCTIONS_H_

#include "absl/status/status.h"
#include "common/ir/graph.h"

namespace weir {

// Errors: InvalidArgument with the node: it reads or writes a variable, prints, or reduces over the
// iterations of a pfor that is not there.
absl::Status CheckFunctions(const Graph& functions);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_CHECK_FUNCTIONS_H_
