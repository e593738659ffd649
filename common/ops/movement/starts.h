// What dynamic_slice and dynamic_update_slice share: one i64 scalar start for each axis, moved to
// where the slice lies inside (StableHLO). Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_MOVEMENT_STARTS_H_
#define WEIR_COMMON_OPS_MOVEMENT_STARTS_H_

#include "absl/status/statusor.h"
#include "common/ops/axes.h"

namespace weir {

// Checks that the operands from `first` on are one i64[] for each axis of operand 0.
absl::Status CheckStarts(const InferContext& context, int first);
// Checks that `slice` fits into the shape of operand 0. An axis of extent 0 lets anything pass:
// iterations of an empty parallel loop may slice a row, and none of them runs.
absl::Status CheckFits(const InferContext& context, const Shape& slice, std::string_view what);
// Returns: the starts from operand `first` on, clamped; an error when the slice is larger than
// operand 0. REQUIRES: the slice is not empty.
absl::StatusOr<Extents> ClampedStarts(const EvalContext& context, int first,
                                      absl::Span<const int64_t> slice);

bool StartsVary(const PforRewrite& rewrite, int first);
// The operands from `first` on for an op with the iteration axis in front: 0, then the starts.
std::vector<ValueId> InvariantStarts(PforRewrite& rewrite, int first);
// i64[m,k] from k values of i64[m].
ValueId IndexRows(PforRewrite& rewrite, const std::vector<ValueId>& columns);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_MOVEMENT_STARTS_H_
