// The Hurwitz zeta function by Euler and Maclaurin's formula, and polygamma by it. Pure functions;
// usable from any thread. They compute in double; float results are rounded from that.
#ifndef WEIR_COMMON_OPS_SCALAR_ZETA_H_
#define WEIR_COMMON_OPS_SCALAR_ZETA_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/gamma.h"
#include "common/ops/scalar/power.h"

namespace weir::scalar {

// The sum of (q + k)^-s over k >= 0; infinite at s = 1 and at q = 0, -1, ..., NaN for other s < 1
// or q < 0.
inline double Zeta(double s, double q) {
  constexpr int kTerms = 12;
  // B(2j) / (2j)!
  constexpr double kCoefficients[] = {
      0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
      0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
      0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63};
  if (s == 1 || (s > 1 && q <= 0 && RoundHalfEven(q) == q)) return kInf<double>;
  if (!(s > 1 && q > 0)) return kNaN<double>;
  if (q == kInf<double>) return 0;
  double sum = 0;
  for (int k = 0; k < kTerms; ++k) sum += Pow(q + k, -s);
  const double w = q + kTerms;
  const double last = Pow(w, -s);
  double tail = Pow(w, 1 - s) / (s - 1) + 0.5 * last, rising = s, power = last / w;
  for (int j = 0; j < 12 && power > 0; ++j) {
    tail += kCoefficients[j] * rising * power;
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
    power /= w * w;
  }
  return sum + tail;
}
inline float Zeta(float s, float q) { return static_cast<float>(Zeta(double{s}, double{q})); }

// The n-th derivative of digamma; NaN unless n is a whole number from 0 on.
inline double Polygamma(double n, double x) {
  if (!(n >= 0 && n < kInf<double>) || RoundHalfEven(n) != n) return kNaN<double>;
  if (n == 0) return Digamma(x);
  const bool odd = RoundHalfEven(n * 0.5) * 2 != n;
  const double zeta = Zeta(n + 1, x);
  // Large factorials meet small sums.
  double factorial = 1;
  for (int k = 2; k <= n && k <= 170; ++k) factorial *= k;
  const double y = n <= 170 ? factorial * zeta : Exp(Lgamma(n + 1) + Log(zeta));
  return odd ? y : -y;
}
inline float Polygamma(float n, float x) {
  return static_cast<float>(Polygamma(double{n}, double{x}));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_ZETA_H_
