// The logarithm of the absolute gamma function, and its derivative digamma. Pure functions; usable
// from any thread.
//
// Both compute in double; float results are rounded from that. Error in double: lgamma below 4 ulp
// for x > -1/2, digamma below 6 ulp for x > 0. For smaller x the error is a few 2^-52 of the
// largest term of the reflection formula, so near the zeros there it is absolute and not relative.
#ifndef WEIR_COMMON_OPS_SCALAR_GAMMA_H_
#define WEIR_COMMON_OPS_SCALAR_GAMMA_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/log.h"
#include "common/ops/scalar/trig.h"

namespace weir::scalar {

// Sine and cosine of pi f for |f| <= 1/2.
WEIR_ALWAYS_INLINE SinCos SinCosPi(double f) {
  const double a = Abs(f);
  const bool swap = a > 0.25;
  const Pair<double> angle = TwoProduct(Select(swap, 0.5 - a, a), 0x1.921fb54442d18p+1);
  const SinCos s = SinCosSmall(angle);
  return {FlipSign(Select(swap, s.cos, s.sin), SignOf(f)), Select(swap, s.sin, s.cos)};
}

// For -1/2 < x < 9.5.
WEIR_ALWAYS_INLINE double LogGammaNear(double x) {
  const double whole = Select(x >= 1.25 && x < 2, 2.0, RoundHalfEven(x));
  const double t = x - whole;  // lgamma(2 + t) plus or minus the logarithm of a product
  double product = 1;
  for (int i = 1; i <= 7; ++i) product *= Select(whole - i >= 2, x - i, 1.0);
  const bool below = whole < 2;
  const double divisor = Select(whole == 0, x * (x + 1), x);
  const double log = Log(Abs(Select(below, divisor, product)));
  const double p = Poly(
      t, 0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a55760dp-4, 0x1.51322ac7d8931p-6,
      -0x1.e404fc218c557p-8, 0x1.7add6ead24b2dp-9, -0x1.38ac5c2e528ecp-10, 0x1.0b36afc6a0c45p-11,
      -0x1.d3fd4a7d4fb72p-13, 0x1.a127927d1d879p-14, -0x1.78ded94b1ca65p-15, 0x1.5811f144c7a7ep-16,
      -0x1.3ca988a6be7b9p-17, 0x1.25458ff86e82cp-18, -0x1.137ac25b4a01bp-19, 0x1.03957d2b087b9p-20,
      -0x1.af7702cd88b8ep-22, 0x1.bdcb5f000119cp-23, -0x1.9db10822e117dp-23, 0x1.acfde30af8e05p-28,
      0x1.afb544f703cb1p-25, 0x1.44a257f78b0cap-24);
  return t * p + Select(below, -log, log);
}

// For x >= 9.5, by Stirling's series.
WEIR_ALWAYS_INLINE double LogGammaFar(double x) {
  const double inverse = 1 / x, z = inverse * inverse;
  const double s = Poly(z, 0x1.5555555555555p-4, -0x1.6c16c16c16751p-9, 0x1.a01a01995d2c0p-11,
                        -0x1.381372e5e0b14p-11, 0x1.b94350f9c589fp-11, -0x1.f2d3c0e1e71cbp-10,
                        0x1.624ddd6c575b1p-8);
  return (x - 0.5) * (Log(x) - 1) + (0x1.acfe390c97d69p-2 + s * inverse);
}

WEIR_ALWAYS_INLINE double Lgamma(double x) {
  const bool reflect = x <= -0.5;
  const double a = Select(reflect, -x, x);
  const double direct = Select(a < 9.5, LogGammaNear(a), LogGammaFar(a));
  const double sine = SinCosPi(x - RoundHalfEven(x)).sin;
  const double reflected = 0x1.250d048e7a1bdp+0 - Log(Abs(x * sine)) - direct;
  const double y = Select(reflect, reflected, direct);
  const bool pole = x <= 0 && RoundHalfEven(x) == x;
  return Select(pole || Abs(x) == kInf<double>, kInf<double>, y);
}
WEIR_ALWAYS_INLINE float Lgamma(float x) { return static_cast<float>(Lgamma(double{x})); }

// For 0 < x < 10: the value in [1, 2) plus the sum of 1 / (x - i), kept as one fraction.
WEIR_ALWAYS_INLINE double DigammaNear(double x) {
  double numerator = 0, denominator = 1, y = x;
  for (int i = 1; i <= 8; ++i) {
    const double d = x - i;
    const bool use = d >= 1;
    numerator = Select(use, numerator * d + denominator, numerator);
    denominator = Select(use, denominator * d, denominator);
    y = Select(use, d, y);
  }
  const bool below = x < 1;
  y = Select(below, x + 1, y);
  const double sum = Select(below, -1 / x, numerator / denominator);
  // Around the zero, which has two parts.
  const double from_zero = (y - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54;
  const double p = Poly(
      y - 1.5, 0x1.e6f0cbb873617p-1, -0x1.b1cb63005ee97p-2, 0x1.eca189b8e6da1p-3,
      -0x1.2feeeb98a7cd8p-3, 0x1.8512e5905d180p-4, -0x1.fb442029cdbf4p-5, 0x1.4de9aa05d3418p-5,
      -0x1.b9f8b1367959dp-6, 0x1.256475e5ac975p-6, -0x1.86355f6f68797p-7, 0x1.03c00801ba958p-7,
      -0x1.5a071c746535bp-8, 0x1.cd3e42d157015p-9, -0x1.33661f9073563p-9, 0x1.980fc9c9f0be8p-10,
      -0x1.1002aaf6255f5p-10, 0x1.7b3b41b0b38cdp-11, -0x1.f99f529bd0771p-12, 0x1.dc8ae08af0fc4p-13,
      -0x1.3db05b36d9a48p-13, 0x1.104c9d0897b58p-12, -0x1.6b107f71aa124p-13);
  return from_zero * p + sum;
}

WEIR_ALWAYS_INLINE double DigammaFar(double x) {
  const double inverse = 1 / x, z = inverse * inverse;
  const double s = Poly(z, 0x1.5555555555555p-4, -0x1.111111111078dp-7, 0x1.041040fc9a36dp-8,
                        -0x1.1110ff75ebb62p-8, 0x1.f0683c05c3bf5p-8, -0x1.56ac5087cb94cp-6,
                        0x1.1deb63311dc16p-4);
  return Log(x) - (0.5 * inverse + z * s);
}

// -inf at 0, inf at -0, NaN at negative integers.
WEIR_ALWAYS_INLINE double Digamma(double x) {
  const bool reflect = x < 0;
  const double a = Select(reflect, 1 - x, x);
  const double direct = Select(a < 10, DigammaNear(a), DigammaFar(a));
  const SinCos s = SinCosPi(x - RoundHalfEven(x));
  const double reflected = direct - 0x1.921fb54442d18p+1 * s.cos / s.sin;
  const double y = Select(reflect, reflected, direct);
  return Select(reflect && RoundHalfEven(x) == x, kNaN<double>, y);
}
WEIR_ALWAYS_INLINE float Digamma(float x) { return static_cast<float>(Digamma(double{x})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_GAMMA_H_
