// log, log2, log10 and log1p. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_LOG_H_
#define WEIR_COMMON_OPS_SCALAR_LOG_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"

namespace weir::scalar {

// x = 2^exponent * (1 + fraction) with sqrt(1/2) <= 1 + fraction < sqrt(2).
template <Real T>
struct Binary {
  T exponent;
  T fraction;
};

// REQUIRES: x > 0, normal and finite, for a meaningful result.
WEIR_ALWAYS_INLINE Binary<float> SplitNormal(float x) {
  const uint32_t above_root = ToBits(x) - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(above_root) >> 23;
  const float mantissa = FromBits<float>((above_root & 0x007fffffu) + 0x3f3504f3u);
  return {static_cast<float>(exponent), mantissa - 1};
}
WEIR_ALWAYS_INLINE Binary<double> SplitNormal(double x) {
  constexpr uint64_t kRoot = 0x3fe6a09e667f3bcdu, kOffset = 1024;
  const uint64_t above_root = ToBits(x) - kRoot;
  const uint64_t exponent = (above_root + (kOffset << 52)) >> 52;
  const double mantissa = FromBits<double>((above_root & 0x000fffffffffffffu) + kRoot);
  const double biased = FromBits<double>(exponent | ToBits(0x1p52));
  return {biased - (0x1p52 + static_cast<double>(kOffset)), mantissa - 1};
}

// REQUIRES: x > 0 and finite, for a meaningful result.
template <Real T>
WEIR_ALWAYS_INLINE Binary<T> Split(T x) {
  constexpr int kUp = Layout<T>::kMantissaBits + 1;
  const bool subnormal = x < std::numeric_limits<T>::min();
  const T up = FromBits<T>((Layout<T>::kBias + kUp) << Layout<T>::kMantissaBits);
  const Binary<T> b = SplitNormal(Select(subnormal, x * up, x));
  return {b.exponent - Select(subnormal, static_cast<T>(kUp), T{0}), b.fraction};
}

// log(1 + f) = f - (square - rest), square = f^2 / 2, for the fractions that Split makes.
template <Real T>
struct LogSeries {
  T square;
  T rest;
};
WEIR_ALWAYS_INLINE LogSeries<float> LogNear1(float f) {
  const float p =
      Poly(f, 0x1.555554p-2f, -0x1.fffff8p-3f, 0x1.999d44p-3f, -0x1.555c8cp-3f, 0x1.23d54ep-3f,
           -0x1.fcbfeap-4f, 0x1.de32ecp-4f, -0x1.d778e8p-4f, 0x1.20456cp-4f);
  return {f * f * 0.5f, f * f * f * p};
}
WEIR_ALWAYS_INLINE LogSeries<double> LogNear1(double f) {
  const double s = f / (f + 2);
  const double z = s * s;
  const double p =
      Poly(z, 0x1.5555555555558p-1, 0x1.9999999995284p-2, 0x1.2492492e03d5p-2, 0x1.c71c62c9cb7e8p-3,
           0x1.7462bd218b49fp-3, 0x1.39fd3c2df66d1p-3, 0x1.2b66b9bfcde41p-3);
  const double square = f * f * 0.5;
  return {square, s * (square + z * p)};
}

// Returns: `y` corrected where the logarithm of x is no finite number.
template <Real T>
WEIR_ALWAYS_INLINE T LogEdges(T x, T y) {
  const T positive = Select(x < kInf<T>, y, x);
  const T zero = Select(x == 0, -kInf<T>, kNaN<T>);
  return Select(x <= 0, zero, positive);
}

template <Real T>
WEIR_ALWAYS_INLINE T Log(T x) {
  using L = ExpLimits<T>;
  const Binary<T> b = Split(x);
  const LogSeries<T> s = LogNear1(b.fraction);
  const T low = (s.rest + b.exponent * L::kLn2Low) - s.square;
  return LogEdges(x, (b.fraction + low) + b.exponent * L::kLn2High);
}

// Returns: log(1 + x.high + x.low).
template <Real T>
WEIR_ALWAYS_INLINE T Log1p(Pair<T> x) {
  using L = ExpLimits<T>;
  const T u = x.high + 1;
  const Binary<T> b = Split(u);
  const bool direct = b.exponent == 0;  // then the fraction is x itself
  const T lost = Select(u > 2, T{1} - (u - x.high), x.high - (u - T{1}));
  const T correction = (Select(direct, T{0}, lost) + x.low) / u;
  const T fraction = Select(direct, x.high, b.fraction);
  const LogSeries<T> s = LogNear1(fraction);
  const T low = (s.rest + (b.exponent * L::kLn2Low + correction)) - s.square;
  return LogEdges(u, (fraction + low) + b.exponent * L::kLn2High);
}
template <Real T>
WEIR_ALWAYS_INLINE T Log1p(T x) {
  return Select(Abs(x) < ExpLimits<T>::kTiny, x, Log1p(Pair<T>{x, 0}));
}

// log2 with a relative error below 2^-36, for the float functions that compute in double.
// REQUIRES: x > 0, normal and finite, for a meaningful result.
WEIR_ALWAYS_INLINE double Log2Rough(double x) {
  const Binary<double> b = SplitNormal(x);
  const double s = b.fraction / (b.fraction + 2);
  const double z = s * s;
  const double p = Poly(z, 0x1.5555554b9413ep-1, 0x1.9999ec123779p-2, 0x1.245bf773b8081p-2,
                        0x1.ddde6f335e542p-3);
  return (z * p + 2) * s * 0x1.71547652b82fep0 + b.exponent;
}

WEIR_ALWAYS_INLINE float Log2(float x) { return LogEdges(x, static_cast<float>(Log2Rough(x))); }
WEIR_ALWAYS_INLINE float Log10(float x) {
  return LogEdges(x, static_cast<float>(Log2Rough(x) * 0x1.34413509f79ffp-2));
}

// Returns: n * unit + log(1 + fraction) * scale, where each constant comes in two parts and n *
// unit.high is exact.
WEIR_ALWAYS_INLINE double LogToBase(Binary<double> b, Pair<double> unit, Pair<double> scale) {
  const LogSeries<double> s = LogNear1(b.fraction);
  const double high = FromBits<double>(ToBits(b.fraction - s.square) & 0xffffffff00000000u);
  const double low = ((b.fraction - high) - s.square) + s.rest;
  const double y_low = b.exponent * unit.low + (low + high) * scale.low + low * scale.high;
  const Pair<double> y = TwoSum(b.exponent * unit.high, high * scale.high);
  return y.high + (y.low + y_low);
}
WEIR_ALWAYS_INLINE double Log2(double x) {
  const Pair<double> unit = {1, 0}, scale = {0x1.71546p0, 0x1.652b82fe1777dp-20};
  return LogEdges(x, LogToBase(Split(x), unit, scale));
}
WEIR_ALWAYS_INLINE double Log10(double x) {
  const Pair<double> unit = {0x1.34413509f6p-2, 0x1.9fef311f12b36p-42};
  const Pair<double> scale = {0x1.bcb7ap-2, 0x1.1526e50e32a6bp-22};
  return LogEdges(x, LogToBase(Split(x), unit, scale));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_LOG_H_
