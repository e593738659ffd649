// What loops whose length is known only from data (pfor with a count) share: the check of the
// count, and reductions over the iterations that run. Used by op files, passes and executors;
// stateless.
#ifndef WEIR_COMMON_OPS_CONTROL_RAGGED_H_
#define WEIR_COMMON_OPS_CONTROL_RAGGED_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/ir/builder.h"

namespace weir::control {

// Returns: an error unless `count` iterations of at most `extent` may run.
absl::Status CheckCount(int64_t count, int64_t extent);

// A `check` that so many iterations may run.
void CheckCountNode(Builder& b, ValueId count, const Dim& extent);

// Runs the body of a pfor one iteration after the other, by a `for`: `body` is detached, takes the
// iteration and yields a row of each result. `counts`: the pfor's operands. Returns: the results,
// T[extent, s...], with zeros from the count on.
std::vector<ValueId> LoopOverIterations(Builder& b, RegionId body,
                                        const std::vector<ValueId>& counts, const Dim& extent);

// What a reduction of nothing gives. `kind`: sum, prod, max, min.
ValueId ReductionIdentity(Builder& b, const std::string& kind, const TensorType& type);

// T[extent, s...] to T[s...], or to itself for the kind "gather": of rows 0 .. count-1, or of all
// if `count` is invalid. The rows behind leave no trace in the bits.
ValueId ReduceIterations(Builder& b, const std::string& kind, ValueId rows, ValueId count);

}  // namespace weir::control

#endif  // WEIR_COMMON_OPS_CONTROL_RAGGED_H_
