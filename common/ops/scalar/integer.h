// Integer arithmetic without undefined cases: sums and products wrap, x / 0 = -1, x % 0 = x,
// MIN / -1 = MIN, shifts by the width or more (or by a negative amount) give 0 or the sign. No
// input raises a signal. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_INTEGER_H_
#define WEIR_COMMON_OPS_SCALAR_INTEGER_H_

#include "common/ops/scalar/base.h"

namespace weir::scalar {

template <Integer T>
using UnsignedT = std::make_unsigned_t<T>;
template <Integer T>
inline constexpr int kWidth = 8 * sizeof(T);

// Arithmetic modulo 2^width. The operands are widened to at least 32 bits first, so that the
// products of two 16-bit numbers do not overflow an int.
template <Integer T>
WEIR_ALWAYS_INLINE auto Wide(T x) {
  return static_cast<std::common_type_t<UnsignedT<T>, uint32_t>>(static_cast<UnsignedT<T>>(x));
}
template <Integer T>
WEIR_ALWAYS_INLINE T Add(T x, T y) {
  return static_cast<T>(Wide(x) + Wide(y));
}
template <Integer T>
WEIR_ALWAYS_INLINE T Subtract(T x, T y) {
  return static_cast<T>(Wide(x) - Wide(y));
}
template <Integer T>
WEIR_ALWAYS_INLINE T Multiply(T x, T y) {
  return static_cast<T>(Wide(x) * Wide(y));
}
template <Integer T>
WEIR_ALWAYS_INLINE T Negate(T x) {
  return static_cast<T>(0u - Wide(x));
}
template <Integer T>
WEIR_ALWAYS_INLINE T Abs(T x) {
  return Select(x < 0, Negate(x), x);  // MIN stays MIN
}
template <Integer T>
WEIR_ALWAYS_INLINE T Sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

// True if x / y is not to be computed: y == 0, or MIN / -1.
template <Integer T>
WEIR_ALWAYS_INLINE bool QuotientIsSpecial(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    return y == 0 || (x == std::numeric_limits<T>::min() && y == T{-1});
  } else {
    return y == 0;
  }
}

// Small types divide in floating point, which is exact there and vectorizes. REQUIRES: not special.
template <Integer T>
WEIR_ALWAYS_INLINE T Quotient(T x, T y) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(static_cast<int32_t>(static_cast<float>(x) / static_cast<float>(y)));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return static_cast<int32_t>(static_cast<double>(x) / static_cast<double>(y));
  } else {
    return x / y;
  }
}

// Rounds to zero.
template <Integer T>
WEIR_ALWAYS_INLINE T Divide(T x, T y) {
  const bool special = QuotientIsSpecial(x, y);
  const T q = Quotient(x, Select(special, T{1}, y));  // MIN / 1 is the result of MIN / -1
  return Select(y == 0, static_cast<T>(-1), q);
}
// The sign of x.
template <Integer T>
WEIR_ALWAYS_INLINE T Remainder(T x, T y) {
  const T divisor = Select(QuotientIsSpecial(x, y), T{1}, y);
  const T r = Subtract(x, Multiply(Quotient(x, divisor), divisor));
  return Select(y == 0, x, r);
}
template <Integer T>
WEIR_ALWAYS_INLINE T FloorDivide(T x, T y) {
  const T down = static_cast<T>(y != 0 && Remainder(x, y) != 0 && (x < 0) != (y < 0));
  return Subtract(Divide(x, y), down);
}
// The sign of y.
template <Integer T>
WEIR_ALWAYS_INLINE T FloorMod(T x, T y) {
  const T r = Remainder(x, y);
  return Select(y != 0 && r != 0 && (r < 0) != (y < 0), Add(r, y), r);
}

template <Integer T>
WEIR_ALWAYS_INLINE T Maximum(T x, T y) {
  return Select(x < y, y, x);
}
template <Integer T>
WEIR_ALWAYS_INLINE T Minimum(T x, T y) {
  return Select(y < x, y, x);
}

template <Integer T>
WEIR_ALWAYS_INLINE bool ShiftsOut(T amount) {
  return static_cast<UnsignedT<T>>(amount) >= static_cast<UnsignedT<T>>(kWidth<T>);
}
template <Integer T>
WEIR_ALWAYS_INLINE T ShiftLeft(T x, T amount) {
  const bool out = ShiftsOut(amount);
  const auto shifted = Wide(x) << Select(out, T{0}, amount);
  return Select(out, T{0}, static_cast<T>(shifted));
}
template <Integer T>
WEIR_ALWAYS_INLINE T ShiftRightLogical(T x, T amount) {
  const bool out = ShiftsOut(amount);
  const auto shifted = Wide(x) >> Select(out, T{0}, amount);
  return Select(out, T{0}, static_cast<T>(shifted));
}
// Fills with the sign bit, also for unsigned types.
template <Integer T>
WEIR_ALWAYS_INLINE T ShiftRightArithmetic(T x, T amount) {
  using S = std::make_signed_t<T>;
  const T bounded = Select(ShiftsOut(amount), static_cast<T>(kWidth<T> - 1), amount);
  return static_cast<T>(static_cast<S>(x) >> bounded);
}

template <Integer T>
WEIR_ALWAYS_INLINE T Popcnt(T x) {
  using U = std::common_type_t<UnsignedT<T>, uint32_t>;
  U v = Wide(x);
  v = v - ((v >> 1) & (~U{0} / 3));
  v = (v & (~U{0} / 15 * 3)) + ((v >> 2) & (~U{0} / 15 * 3));
  v = (v + (v >> 4)) & (~U{0} / 255 * 15);
  return static_cast<T>((v * (~U{0} / 255)) >> (8 * sizeof(U) - 8));
}
// The width for 0.
template <Integer T>
WEIR_ALWAYS_INLINE T CountLeadingZeros(T x) {
  auto v = Wide(x);
  for (int step = 1; step < kWidth<T>; step *= 2) v |= v >> step;
  return static_cast<T>(kWidth<T> - Popcnt(static_cast<T>(v)));
}

// x^y modulo 2^width; 0 to a negative power is 0, as is every |x| > 1 (the quotient rounded to
// zero).
template <Integer T>
WEIR_ALWAYS_INLINE T Pow(T x, T y) {
  auto result = Wide(T{1});
  auto square = Wide(x);
  auto rest = Wide(y);
  for (int bit = 0; bit < kWidth<T>; ++bit) {
    result = (rest & 1u) != 0 ? result * square : result;
    square *= square;
    rest >>= 1;
  }
  const T power = static_cast<T>(result);
  if constexpr (std::is_signed_v<T>) {
    const T minus_one = Select((y & 1) != 0, T{-1}, T{1});
    const T reciprocal = Select(x == 1, T{1}, Select(x == T{-1}, minus_one, T{0}));
    return Select(y < 0, reciprocal, power);
  } else {
    return power;
  }
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_INTEGER_H_
