// sin, cos and tan. Pure functions; usable from any thread.
//
// float: any argument, below 1 ulp. double: below 2 ulp for |x| < 2^20; beyond that bound the error
// of sin and cos is 2^-51 at most in absolute terms, so a result near zero keeps that and not the
// relative one.
#ifndef WEIR_COMMON_OPS_SCALAR_TRIG_H_
#define WEIR_COMMON_OPS_SCALAR_TRIG_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/trig_reduce.h"

namespace weir::scalar {

struct SinCos {
  double sin;
  double cos;
};

// Of r.high + r.low, |r| <= pi / 4.
WEIR_ALWAYS_INLINE SinCos SinCosSmall(Pair<double> r) {
  const double x = r.high, z = x * x;
  const double p = Poly(z, -0x1.5555555555555p-3, 0x1.111111111101fp-7, -0x1.a01a019fe8deep-13,
                        0x1.71de3a10d916p-19, -0x1.ae63f902ad1d8p-26, 0x1.60e6892b06d4cp-33,
                        -0x1.8db88c64f5bdcp-41);
  const double q = Poly(z, 0x1.5555555555555p-5, -0x1.6c16c16c168cap-10, 0x1.a01a019f38349p-16,
                        -0x1.27e4fa02da51p-22, 0x1.1eeb57c6838ebp-29, -0x1.90737ad41864ep-37);
  const double half = z * 0.5;
  const Pair<double> c = FastTwoSum(1.0, -half);
  return {x + (x * z * p + (r.low - r.low * half)), c.high + (c.low + (z * z * q - x * r.low))};
}

// With a relative error near 2^-32.
WEIR_ALWAYS_INLINE SinCos SinCosSmallRough(double x) {
  const double z = x * x;
  const double p = Poly(z, -0x1.555555545a98bp-3, 0x1.11110de8dcb91p-7, -0x1.a013a0b2cc935p-13,
                        0x1.6dbc2891d7b9p-19);
  const double q = Poly(z, 0x1.555555550210ep-5, -0x1.6c16bf5228726p-10, 0x1.a015c17c32edap-16,
                        -0x1.25237b7720eeep-22);
  return {x + x * z * p, (1 - z * 0.5) + z * z * q};
}

WEIR_ALWAYS_INLINE double SinOf(SinCos s, uint64_t q) {
  return FlipSign(Select((q & 1) != 0, s.cos, s.sin), q >> 1 << 63);
}
WEIR_ALWAYS_INLINE double CosOf(SinCos s, uint64_t q) { return SinOf(s, q + 1); }
WEIR_ALWAYS_INLINE double TanOf(SinCos s, uint64_t q) {
  const bool odd = (q & 1) != 0;
  return FlipSign(Select(odd, s.cos, s.sin) / Select(odd, s.sin, s.cos), q << 63);
}

inline constexpr double kTinyAngle = 0x1p-27;  // sin(x) and tan(x) are x below

WEIR_ALWAYS_INLINE double Sin(double x) {
  const Quadrant reduced = ReduceQuadrant(x);
  return Select(Abs(x) < kTinyAngle, x, SinOf(SinCosSmall(reduced.r), reduced.q));
}
WEIR_ALWAYS_INLINE double Cos(double x) {
  const Quadrant reduced = ReduceQuadrant(x);
  return CosOf(SinCosSmall(reduced.r), reduced.q);
}
WEIR_ALWAYS_INLINE double Tan(double x) {
  const Quadrant reduced = ReduceQuadrant(x);
  return Select(Abs(x) < kTinyAngle, x, TanOf(SinCosSmall(reduced.r), reduced.q));
}

WEIR_ALWAYS_INLINE float Sin(float x) {
  const double wide = x;
  const Quadrant reduced = ReduceFloat(wide);
  const double y = SinOf(SinCosSmallRough(reduced.r.high), reduced.q);
  return static_cast<float>(Select(Abs(wide) < kTinyAngle, wide, y));
}
WEIR_ALWAYS_INLINE float Cos(float x) {
  const Quadrant reduced = ReduceFloat(x);
  return static_cast<float>(CosOf(SinCosSmallRough(reduced.r.high), reduced.q));
}
WEIR_ALWAYS_INLINE float Tan(float x) {
  const double wide = x;
  const Quadrant reduced = ReduceFloat(wide);
  const double y = TanOf(SinCosSmallRough(reduced.r.high), reduced.q);
  return static_cast<float>(Select(Abs(wide) < kTinyAngle, wide, y));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_TRIG_H_
