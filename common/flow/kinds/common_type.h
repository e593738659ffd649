// For kinds that pass on records of several inputs. Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_KINDS_COMMON_TYPE_H_
#define WEIR_COMMON_FLOW_KINDS_COMMON_TYPE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// For `infer`: output 0 has the records of all inputs, which are of one type.
absl::StatusOr<std::optional<std::vector<RecordType>>> CommonType(const KindContext& context);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_KINDS_COMMON_TYPE_H_
