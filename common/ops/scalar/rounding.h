// Rounding, comparison-like and remainder functions of reals. Pure functions; usable from any
// thread.
#ifndef WEIR_COMMON_OPS_SCALAR_ROUNDING_H_
#define WEIR_COMMON_OPS_SCALAR_ROUNDING_H_

#include "common/ops/scalar/base.h"

namespace weir::scalar {

WEIR_ALWAYS_INLINE float Floor(float x) { return __builtin_floorf(x); }
WEIR_ALWAYS_INLINE double Floor(double x) { return __builtin_floor(x); }
WEIR_ALWAYS_INLINE float Ceil(float x) { return __builtin_ceilf(x); }
WEIR_ALWAYS_INLINE double Ceil(double x) { return __builtin_ceil(x); }
WEIR_ALWAYS_INLINE float Trunc(float x) { return __builtin_truncf(x); }
WEIR_ALWAYS_INLINE double Trunc(double x) { return __builtin_trunc(x); }

template <Real T>
WEIR_ALWAYS_INLINE T RoundHalfAway(T x) {
  const T whole = Trunc(x);
  const T step = Select(Abs(x - whole) >= T{0.5}, T{1}, T{0});
  return CopySign(Abs(whole) + step, x);
}

template <Real T>
WEIR_ALWAYS_INLINE bool IsFinite(T x) {
  return Abs(x) < kInf<T>;
}
template <Real T>
WEIR_ALWAYS_INLINE bool IsInf(T x) {
  return Abs(x) == kInf<T>;
}

// NaN if either operand is NaN; -0 is below 0.
template <Real T>
WEIR_ALWAYS_INLINE T Maximum(T x, T y) {
  const T equal = FromBits<T>(ToBits(x) & ToBits(y));
  const T ordered = Select(x > y, x, Select(x < y, y, equal));
  return Select(IsNan(x), x, Select(IsNan(y), y, ordered));
}
template <Real T>
WEIR_ALWAYS_INLINE T Minimum(T x, T y) {
  const T equal = FromBits<T>(ToBits(x) | ToBits(y));
  const T ordered = Select(x < y, x, Select(x > y, y, equal));
  return Select(IsNan(x), x, Select(IsNan(y), y, ordered));
}

// -1, 1, or x itself for zeros and NaN.
template <Real T>
WEIR_ALWAYS_INLINE T Sign(T x) {
  return Select(x > 0, T{1}, Select(x < 0, T{-1}, x));
}

// The representable value after x in the direction of y; y itself if they are equal.
template <Real T>
WEIR_ALWAYS_INLINE T NextAfter(T x, T y) {
  const bool away = (x > 0) == (y > x);
  const BitsT<T> stepped = away ? ToBits(x) + 1 : ToBits(x) - 1;
  const T from_zero = FromBits<T>(SignOf(y) | 1);
  const T moved = Select(x == 0, from_zero, FromBits<T>(stepped));
  return Select(IsNan(x) || IsNan(y), x + y, Select(x == y, y, moved));
}

// The remainder of the quotient rounded to zero (C's fmod), always exact. The library function is
// exact too, so it has the one possible result; it does not vectorize.
WEIR_ALWAYS_INLINE float Remainder(float x, float y) { return __builtin_fmodf(x, y); }
WEIR_ALWAYS_INLINE double Remainder(double x, double y) { return __builtin_fmod(x, y); }

// The remainder of the floored quotient: it has the sign of y.
template <Real T>
WEIR_ALWAYS_INLINE T FloorMod(T x, T y) {
  const T r = Remainder(x, y);
  const T moved = Select((r < 0) != (y < 0), r + y, r);
  return Select(r == 0, CopySign(r, y), moved);
}

// floor(x / y), consistent with FloorMod: x = y * FloorDivide(x, y) + FloorMod(x, y) up to
// rounding.
template <Real T>
WEIR_ALWAYS_INLINE T FloorDivide(T x, T y) {
  const T r = Remainder(x, y);
  const T quotient = (x - r) / y - Select(r != 0 && (r < 0) != (y < 0), T{1}, T{0});
  // (x - r) / y is near an integer; the division may have rounded it off.
  const T whole = RoundHalfEven(quotient);
  const T special = Floor(x / y);
  return Select(y == 0 || !IsFinite(x) || !IsFinite(y), special, whole);
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_ROUNDING_H_
