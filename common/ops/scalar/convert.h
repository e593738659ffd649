// Conversions between element types. Pure functions; usable from any thread.
//
// Between integers: modulo 2^width. Real to integer: rounds to zero, saturates, NaN becomes 0. To
// bool: x != 0 (NaN is true). To a smaller real: rounds to nearest even; f64 to f16 or bf16 goes
// through f32, rounded to odd, so that it is rounded once.
#ifndef WEIR_COMMON_OPS_SCALAR_CONVERT_H_
#define WEIR_COMMON_OPS_SCALAR_CONVERT_H_

#include "common/ops/scalar/base.h"

namespace weir::scalar {

template <class To, Real From>
WEIR_ALWAYS_INLINE To RealToInteger(From x) {
  using Limits = std::numeric_limits<To>;
  // 2^digits, the first value above the range, is exact in every real type.
  constexpr From kAbove = static_cast<From>(Limits::max() / 2 + 1) * 2;
  constexpr From kLowest = static_cast<From>(Limits::min());
  const bool above = x >= kAbove, below = x < kLowest;
  const From inside = Select(above || below || IsNan(x), From{0}, x);
  const To whole = static_cast<To>(inside);
  return Select(above, Limits::max(), Select(below, Limits::min(), whole));
}

// The float next to x on the side of an odd last bit, unless x is a float.
WEIR_ALWAYS_INLINE float RoundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const uint32_t bits = ToBits(nearest);
  const uint32_t toward_zero = bits - (Abs(back) > Abs(x) ? 1u : 0u);
  const bool inexact = back != x && !IsNan(x);
  return FromBits<float>(inexact ? toward_zero | 1u : bits);
}

template <class To, class From>
WEIR_ALWAYS_INLINE To Convert(From x) {
  constexpr bool kFromHalf = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  constexpr bool kToHalf = std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kFromHalf) {
    return Convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (kToHalf && (std::is_same_v<From, double> || Integer<From>)) {
    return To(RoundToOdd(static_cast<double>(x)));
  } else if constexpr (kToHalf) {
    return To(static_cast<float>(x));
  } else if constexpr (Real<From> && Integer<To>) {
    return RealToInteger<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_CONVERT_H_
