// exp, exp2 and expm1. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_EXP_H_
#define WEIR_COMMON_OPS_SCALAR_EXP_H_

#include "common/ops/scalar/base.h"

namespace weir::scalar {

// The domain outside which exp is 0 or infinite, and ln 2 in two parts such that n * kLn2High is
// exact.
template <Real T>
struct ExpLimits;
template <>
struct ExpLimits<float> {
  static constexpr float kLow = -105, kHigh = 89;
  static constexpr float kLog2E = 0x1.715476p0f;
  static constexpr float kLn2 = 0x1.62e43p-1f, kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kTiny = 0x1p-26f;  // expm1(x) is x below
};
template <>
struct ExpLimits<double> {
  static constexpr double kLow = -746, kHigh = 710;
  static constexpr double kLog2E = 0x1.71547652b82fep0;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kTiny = 0x1p-55;
};

// Returns: (exp(r) - 1 - r) / r^2 for |r| <= 0.35.
WEIR_ALWAYS_INLINE float ExpSeries(float r) {
  return Poly(r, 0x1p-1f, 0x1.555556p-3f, 0x1.555502p-5f, 0x1.110ff2p-7f, 0x1.6d2ep-10f,
              0x1.a2675cp-13f);
}
WEIR_ALWAYS_INLINE double ExpSeries(double r) {
  return Poly(r, 0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555552p-5, 0x1.1111111110056p-7,
              0x1.6c16c16c18932p-10, 0x1.a01a01ac1a7cdp-13, 0x1.a01a0197bc744p-16,
              0x1.71de01b8495c9p-19, 0x1.27e500e210136p-22, 0x1.af4eb35b73852p-26,
              0x1.1f32e868c993ep-29);
}

// x = n ln 2 + r with |r| <= ln 2 / 2.
template <Real T>
struct ExpReduced {
  Pair<T> r;
  BitsT<T> n;
};

template <Real T>
WEIR_ALWAYS_INLINE ExpReduced<T> ReduceForExp(T x) {
  using L = ExpLimits<T>;
  const Rounded<T> n = RoundSmall(x * L::kLog2E);
  return {{x - n.value * L::kLn2High, -(n.value * L::kLn2Low)}, n.bits};
}

// Returns: exp(r.high + r.low) - 1 for |r| <= 0.35.
template <Real T>
WEIR_ALWAYS_INLINE T ExpSmallMinus1(Pair<T> r) {
  const T x = r.high + r.low;
  return r.high + (x * x * ExpSeries(x) + r.low);
}

// Returns: exp(x) * 2^shift; no step overflows before the result does.
template <Real T>
WEIR_ALWAYS_INLINE T ExpScaled(T x, int shift) {
  const T clamped = AtMost(AtLeast(x, ExpLimits<T>::kLow), ExpLimits<T>::kHigh + 1);
  const ExpReduced<T> e = ReduceForExp(clamped);
  return Scale(ExpSmallMinus1(e.r) + T{1}, e.n + static_cast<BitsT<T>>(shift));
}

// Returns: exp(x.high + x.low) for a tiny x.low.
template <Real T>
WEIR_ALWAYS_INLINE T Exp(Pair<T> x) {
  const T clamped = AtMost(AtLeast(x.high, ExpLimits<T>::kLow), ExpLimits<T>::kHigh);
  const ExpReduced<T> e = ReduceForExp(clamped);
  const Pair<T> r = {e.r.high, e.r.low + Select(clamped == x.high, x.low, T{0})};
  return Scale(ExpSmallMinus1(r) + T{1}, e.n);
}

template <Real T>
WEIR_ALWAYS_INLINE T Exp(T x) {
  return ExpScaled(x, 0);
}

template <Real T>
WEIR_ALWAYS_INLINE T Exp2(T x) {
  constexpr int kBits = Layout<T>::kMantissaBits;
  constexpr T kBias = Layout<T>::kBias;
  const T clamped = AtMost(AtLeast(x, -(kBias + kBits + 2)), kBias + 2);
  const Rounded<T> n = RoundSmall(clamped);
  return Scale(ExpSmallMinus1(Pair<T>{(clamped - n.value) * ExpLimits<T>::kLn2, 0}) + T{1}, n.bits);
}

template <Real T>
WEIR_ALWAYS_INLINE T Expm1(T x) {
  using L = ExpLimits<T>;
  constexpr T kMinusOneBelow = -(Layout<T>::kMantissaBits + 2);
  const ExpReduced<T> e = ReduceForExp(AtMost(AtLeast(x, kMinusOneBelow), L::kHigh));
  const T half_scale = PowerOfTwo<T>(e.n - 1);  // half, because 2^n itself may overflow
  const T y = (ExpSmallMinus1(e.r) * half_scale + (half_scale - T{0.5})) * T{2};
  return Select(Abs(x) < L::kTiny, x, y);
}

// 2^x with a relative error near 2^-32, for the float functions that compute in double.
// REQUIRES: |x| < 1000 or NaN, for a meaningful result.
WEIR_ALWAYS_INLINE double Exp2Rough(double x) {
  const Rounded<double> n = RoundSmall(x);
  const double r = x - n.value;
  const double p = Poly(r, 0x1.62e42fefd32c2p-1, 0x1.ebfbe045300cbp-3, 0x1.c6b08cb168297p-5,
                        0x1.3b2a1c3667256p-7, 0x1.5d88bdb13b20cp-10, 0x1.443f62002d4cbp-13,
                        0x1.ffcbdd7926749p-17);
  return (r * p + 1) * PowerOfTwo<double>(n.bits);
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_EXP_H_
