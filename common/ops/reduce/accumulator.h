// In which type the reference evaluation of a reduction accumulates elements of a stored type.
// Stateless; usable from any thread.
#ifndef WEIR_COMMON_OPS_REDUCE_ACCUMULATOR_H_
#define WEIR_COMMON_OPS_REDUCE_ACCUMULATOR_H_

#include <complex>

#include "common/ops/combine.h"

namespace weir {

template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<float> {
  using type = double;
};
template <>
struct AccumulatorOf<Half> {
  using type = double;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = double;
};
template <>
struct AccumulatorOf<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

template <class T>
Accumulator<T> ToAccumulator(T value) {
  if constexpr (kIsHalf<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return Accumulator<T>(value);
  }
}

template <class T>
T FromAccumulator(Accumulator<T> value) {
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(value));
  } else {
    return T(value);
  }
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_REDUCE_ACCUMULATOR_H_
