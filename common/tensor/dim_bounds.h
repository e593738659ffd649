// What is known of a dimension whatever its symbols are, each of which is 0 or more. Stateless;
// usable from any thread.
//
//   LowerBound(n + 1);            // 1
//   UpperBound(Min(n, 4));        // 4
//   LowerBound(n - Min(n, 4));    // 0
//   Gathered(n - Min(n, 4));      // max(n-4,0)
#ifndef WEIR_COMMON_TENSOR_DIM_BOUNDS_H_
#define WEIR_COMMON_TENSOR_DIM_BOUNDS_H_

#include <cstdint>
#include <optional>

#include "common/tensor/dim.h"

namespace weir {

// Returns: a number that the dimension is never below (above), not always the closest one; none
// where none was found.
std::optional<int64_t> LowerBound(const Dim& dim);
std::optional<int64_t> UpperBound(const Dim& dim);

// Returns: the smaller or the larger one of two, which is one of them where the bounds tell.
Dim SmallerOf(const Dim& a, const Dim& b);
Dim LargerOf(const Dim& a, const Dim& b);
// Returns: an equal dimension; what is added to the only min or max of a sum, and its factor, are
// inside of that.
Dim Gathered(const Dim& dim);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_DIM_BOUNDS_H_
