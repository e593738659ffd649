// pow, cbrt, rsqrt, reciprocal and hypot. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_POWER_H_
#define WEIR_COMMON_OPS_SCALAR_POWER_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

template <Real T>
WEIR_ALWAYS_INLINE T Rsqrt(T x) {
  return T{1} / Sqrt(x);
}

// Returns: log(x) with a relative error near 2^-64. REQUIRES: x > 0 and finite.
WEIR_ALWAYS_INLINE Pair<double> LogPair(double x) {
  const Binary<double> b = Split(x);
  const double f = b.fraction;
  const Pair<double> d = FastTwoSum(2.0, f);
  const double s = f / d.high;
  const Pair<double> back = TwoProduct(s, d.high);
  const double s_low = (((f - back.high) - back.low) - s * d.low) / d.high;
  const Pair<double> square = TwoProduct(s, s);
  const double z = square.high, z_low = square.low + 2 * s * s_low;
  // log(1 + f) = 2 s (1 + z / 3 + z^2 tail / 2)
  const double tail =
      Poly(z, 0x1.999999999999fp-2, 0x1.249249248e2a2p-2, 0x1.c71c71d852fabp-3,
           0x1.745d09b6e18c5p-3, 0x1.3b18c7951f1c6p-3, 0x1.1016ec8ad70eep-3, 0x1.088cfc78365aap-3);
  const Pair<double> third = TwoProduct(z, 0x1.5555555555555p-2);
  const double third_low = third.low + (z * 0x1.5555555555555p-56 + z_low * 0x1.5555555555555p-2);
  const Pair<double> sum = FastTwoSum(third.high, third_low + z * z * tail * 0.5);
  const Pair<double> product = TwoProduct(2 * s, sum.high);
  const double product_low = product.low + 2 * (s * sum.low + s_low * sum.high);
  const Pair<double> fraction = FastTwoSum(2 * s, product.high);
  const Pair<double> y = TwoSum(b.exponent * ExpLimits<double>::kLn2High, fraction.high);
  const double low =
      (b.exponent * 0x1.a39ef35793c76p-33) + (fraction.low + (product_low + 2 * s_low));
  return FastTwoSum(y.high, y.low + low);
}

// Returns: |x|^y for 0 < |x| < inf and finite y.
WEIR_ALWAYS_INLINE double PowPositive(double x, double y) {
  const Pair<double> log = LogPair(x);
  const double exponent = AtMost(AtLeast(y, -0x1p70), 0x1p70);  // beyond, 0, 1 or inf already
  const Pair<double> p = TwoProduct(log.high, exponent);
  return Exp(Pair<double>{p.high, p.low + log.low * exponent});
}
WEIR_ALWAYS_INLINE float PowPositive(float x, float y) {
  const double t = Log2Rough(x) * y;
  return static_cast<float>(Exp2Rough(AtMost(AtLeast(t, -200.0), 200.0)));
}

// As C's pow: x^0 is 1 and 1^y is 1, whatever the other operand.
template <Real T>
WEIR_ALWAYS_INLINE T Pow(T x, T y) {
  const T a = Abs(x), b = Abs(y);
  const bool whole = RoundHalfEven(y) == y;
  const bool odd = whole && RoundHalfEven(y * T{0.5}) != y * T{0.5};
  const bool finite = a > 0 && a < kInf<T> && b < kInf<T>;
  const T magnitude = PowPositive(Select(finite, a, T{1}), Select(finite, y, T{0}));
  const bool grows = b == kInf<T> ? (a > 1) == (y > 0) : (a > 0) == (y > 0);
  const T limit = Select(b == kInf<T> && a == 1, T{1}, Select(grows, kInf<T>, T{0}));
  const T absolute = Select(finite, magnitude, limit);
  const T result = FlipSign(absolute, odd ? SignOf(x) : BitsT<T>{0});
  const bool invalid = (x < 0 && a < kInf<T> && b < kInf<T> && !whole) || IsNan(x) || IsNan(y);
  return Select(y == 0 || x == 1, T{1}, Select(invalid, kNaN<T>, result));
}

WEIR_ALWAYS_INLINE double Cbrt(double x) {
  const double a = Abs(x);
  const Binary<double> b = Split(Select(a < kInf<double>, a, 1.0));
  const Rounded<double> third = RoundSmall(b.exponent * (1.0 / 3));
  const double rest = b.exponent - third.value * 3;  // -1, 0 or 1
  const double m = (1 + b.fraction) * Select(rest < 0, 0.5, Select(rest > 0, 2.0, 1.0));
  const double guess = Poly(m, 0x1.a9060094892c4p-2, 0x1.0d7cdf0e312b5p0, -0x1.85e885df1fee5p-1,
                            0x1.8c8866db8cbd4p-2, -0x1.ac2d1e640c781p-4, 0x1.71d38abc519d8p-7);
  const double cube = guess * guess * guess;
  const double better = guess * (cube + 2 * m) / (2 * cube + m);
  const Pair<double> square = TwoProduct(better, better);
  const Pair<double> product = TwoProduct(square.high, better);
  const double residual = (m - product.high) - (product.low + square.low * better);
  const double root = better + residual / (3 * square.high);
  const double y = FlipSign(root * PowerOfTwo<double>(third.bits), SignOf(x));
  return Select(a > 0 && a < kInf<double>, y, x);
}
WEIR_ALWAYS_INLINE float Cbrt(float x) {
  const double a = Abs(double{x});
  const double y = Exp2Rough(Log2Rough(Select(a < kInf<double>, a, 1.0)) * (1.0 / 3));
  const double sharper = y - (y * y * y - a) / (3 * y * y);
  const double signed_y = FlipSign(sharper, SignOf(double{x}));
  return static_cast<float>(Select(a > 0 && a < kInf<double>, signed_y, double{x}));
}

// An infinite operand makes the result infinite, even beside NaN.
WEIR_ALWAYS_INLINE double Hypot(double x, double y) {
  const double a = Abs(x), b = Abs(y);
  const double high = Select(a < b, b, a), low = Select(a < b, a, b);
  const double ratio = low / high;
  const double length = high * Sqrt(1 + ratio * ratio);
  const double finite = Select(high == 0, low, length);
  return Select(a == kInf<double> || b == kInf<double>, kInf<double>, finite);
}
WEIR_ALWAYS_INLINE float Hypot(float x, float y) {
  const double a = x, b = y;
  const bool infinite = Abs(x) == kInf<float> || Abs(y) == kInf<float>;
  return Select(infinite, kInf<float>, static_cast<float>(Sqrt(a * a + b * b)));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_POWER_H_
