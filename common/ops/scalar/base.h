// Building blocks of the scalar library: bit casts, selects, polynomials, error-free sums and
// products. Pure functions; usable from any thread.
//
// Everything in common/ops/scalar is branch-free, calls no libm function and contracts nothing, so
// one definition has the same bits in the reference interpreter and in every loop a compiler
// vectorizes around it. Only the sign and payload of a NaN are left open.
#ifndef WEIR_COMMON_OPS_SCALAR_BASE_H_
#define WEIR_COMMON_OPS_SCALAR_BASE_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/tensor/half.h"  // WEIR_ALWAYS_INLINE

namespace weir::scalar {

template <class T>
concept Real = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The layout of an IEEE 754 type.
template <Real T>
struct Layout;
template <>
struct Layout<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr Bits kSign = 0x80000000u;
  static constexpr Bits kInfinity = 0x7f800000u;
  static constexpr Bits kUpperHalf = 0xfffff000u;  // products of two such values are exact
  static constexpr float kRound = 0x1.8p23f;       // adding it rounds to an integer
  static constexpr float kLarge = 0x1p100f;        // sums of a few such values do not overflow
  static constexpr float kHuge = 0x1p14f;          // 1 + 1 / x^2 rounds to 1 beyond
};
template <>
struct Layout<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr Bits kSign = 0x8000000000000000u;
  static constexpr Bits kInfinity = 0x7ff0000000000000u;
  static constexpr Bits kUpperHalf = 0xfffffffff8000000u;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLarge = 0x1p1000;
  static constexpr double kHuge = 0x1p28;
};

template <Real T>
using BitsT = typename Layout<T>::Bits;
template <Real T>
inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <Real T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

template <Real T>
WEIR_ALWAYS_INLINE BitsT<T> ToBits(T x) {
  return std::bit_cast<BitsT<T>>(x);
}
template <Real T>
WEIR_ALWAYS_INLINE T FromBits(BitsT<T> bits) {
  return std::bit_cast<T>(bits);
}

// Both values are computed; the compiler makes a blend of it.
template <class T>
WEIR_ALWAYS_INLINE T Select(bool condition, T if_true, T if_false) {
  return condition ? if_true : if_false;
}

template <Real T>
WEIR_ALWAYS_INLINE bool IsNan(T x) {
  return x != x;
}
template <Real T>
WEIR_ALWAYS_INLINE BitsT<T> SignOf(T x) {
  return ToBits(x) & Layout<T>::kSign;
}
template <Real T>
WEIR_ALWAYS_INLINE T Abs(T x) {
  return FromBits<T>(ToBits(x) & ~Layout<T>::kSign);
}
template <Real T>
WEIR_ALWAYS_INLINE T CopySign(T magnitude, T sign) {
  return FromBits<T>(ToBits(Abs(magnitude)) | SignOf(sign));
}
// Returns: x, negated where `sign` (a value of SignOf) is set.
template <Real T>
WEIR_ALWAYS_INLINE T FlipSign(T x, BitsT<T> sign) {
  return FromBits<T>(ToBits(x) ^ sign);
}

// Instructions, or exact inline sequences on machines without them; never a call.
WEIR_ALWAYS_INLINE float RoundHalfEven(float x) { return __builtin_rintf(x); }
WEIR_ALWAYS_INLINE double RoundHalfEven(double x) { return __builtin_rint(x); }
WEIR_ALWAYS_INLINE float Sqrt(float x) { return __builtin_sqrtf(x); }
WEIR_ALWAYS_INLINE double Sqrt(double x) { return __builtin_sqrt(x); }

// Clamps that let NaN through.
template <Real T>
WEIR_ALWAYS_INLINE T AtMost(T x, T high) {
  return x > high ? high : x;
}
template <Real T>
WEIR_ALWAYS_INLINE T AtLeast(T x, T low) {
  return x < low ? low : x;
}

// An integer as a real and as bits (two's complement, modulo the width).
template <Real T>
struct Rounded {
  T value;
  BitsT<T> bits;
};

// Rounds half to even. REQUIRES: |x| < 2^22 (float), 2^51 (double); else `bits` is arbitrary.
template <Real T>
WEIR_ALWAYS_INLINE Rounded<T> RoundSmall(T x) {
  const T shifted = x + Layout<T>::kRound;
  return {shifted - Layout<T>::kRound, ToBits(shifted) - ToBits(Layout<T>::kRound)};
}

// Returns: 2^n for n given modulo the width. REQUIRES: the result is normal.
template <Real T>
WEIR_ALWAYS_INLINE T PowerOfTwo(BitsT<T> n) {
  return FromBits<T>((n + Layout<T>::kBias) << Layout<T>::kMantissaBits);
}

// Returns: x * 2^n, rounded once also where the result is subnormal. REQUIRES: |n| < 4 * bias.
template <Real T>
WEIR_ALWAYS_INLINE T Scale(T x, BitsT<T> n) {
  constexpr BitsT<T> kOffset = 8 * (Layout<T>::kBias + 1);
  const BitsT<T> half = ((n + kOffset) >> 1) - kOffset / 2;
  return x * PowerOfTwo<T>(half) * PowerOfTwo<T>(n - half);
}

// Returns: c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <Real T>
WEIR_ALWAYS_INLINE T Poly(T, T c0) {
  return c0;
}
template <Real T, class... Rest>
WEIR_ALWAYS_INLINE T Poly(T x, T c0, Rest... rest) {
  return Poly<T>(x, rest...) * x + c0;
}

// An unevaluated sum high + low with |low| at most half an ulp of high.
template <Real T>
struct Pair {
  T high;
  T low;
};

// Exact sum. REQUIRES: |a| >= |b| or a == 0.
template <Real T>
WEIR_ALWAYS_INLINE Pair<T> FastTwoSum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}
template <Real T>
WEIR_ALWAYS_INLINE Pair<T> TwoSum(T a, T b) {
  const T sum = a + b;
  const T b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
template <Real T>
WEIR_ALWAYS_INLINE T UpperHalf(T x) {
  return FromBits<T>(ToBits(x) & Layout<T>::kUpperHalf);
}
// Product with an error below 2^-100 (double) of it, unless something over- or underflows.
template <Real T>
WEIR_ALWAYS_INLINE Pair<T> TwoProduct(T a, T b) {
  const T product = a * b;
  const T a1 = UpperHalf(a), a2 = a - a1;
  const T b1 = UpperHalf(b), b2 = b - b1;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_BASE_H_
