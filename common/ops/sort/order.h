// The order of sort and top_k: numeric, either way, with -0 equal to +0 and every NaN equal to
// every other and behind all numbers in both directions. Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_SORT_ORDER_H_
#define WEIR_COMMON_OPS_SORT_ORDER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "common/ops/combine.h"

namespace weir {

enum class Direction { kAscending, kDescending };

template <class T>
bool ComesBefore(T a, T b, Direction direction) {
  if constexpr (kIsHalf<T>) {
    return ComesBefore(static_cast<float>(a), static_cast<float>(b), direction);
  } else if constexpr (kIsComplex<T>) {
    return false;
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return false;
      if (std::isnan(b)) return true;
    }
    return direction == Direction::kAscending ? a < b : b < a;
  }
}

// Positions of the keys in sorted order; equal keys keep theirs.
template <class T>
std::vector<int64_t> SortedPositions(absl::Span<const T> keys, Direction direction) {
  std::vector<int64_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(),
                   [&](int64_t a, int64_t b) { return ComesBefore(keys[a], keys[b], direction); });
  return positions;
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_SORT_ORDER_H_
