// All ops, by name. Immutable after first use; usable from any thread.
#ifndef WEIR_COMMON_OPS_REGISTRY_H_
#define WEIR_COMMON_OPS_REGISTRY_H_

#include <string_view>

#include "absl/types/span.h"
#include "common/ir/op_catalog.h"
#include "common/ops/op_def.h"

namespace weir {

// Returns: the definition, or null.
const OpDef* FindOp(std::string_view name);
// In the order of list.inc.
absl::Span<const OpDef> AllOps();
// The catalog that builders, the verifier and the parser take.
const OpCatalog& Ops();

}  // namespace weir

#endif  // WEIR_COMMON_OPS_REGISTRY_H_
