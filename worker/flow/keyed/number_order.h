// The order in which top_k puts numbers: the larger first, 0 and -0 equal, NaN last. Pure
// functions; usable from any thread.
#ifndef WEIR_WORKER_FLOW_KEYED_NUMBER_ORDER_H_
#define WEIR_WORKER_FLOW_KEYED_NUMBER_ORDER_H_

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "common/ops/combine.h"

namespace weir {

template <class T>
bool IsAhead(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return false;  // the type rules let no such column be compared
  } else if constexpr (kIsHalf<T>) {
    return IsAhead(static_cast<float>(a), static_cast<float>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return !std::isnan(a) && (std::isnan(b) || a > b);
  } else {
    return a > b;
  }
}

template <class T>
T NumberAt(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_NUMBER_ORDER_H_
