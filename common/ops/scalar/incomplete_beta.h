// The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun
// 26.5.8). Pure functions; usable from any thread. Iterates like incomplete_gamma.h.
#ifndef WEIR_COMMON_OPS_SCALAR_INCOMPLETE_BETA_H_
#define WEIR_COMMON_OPS_SCALAR_INCOMPLETE_BETA_H_

#include "common/ops/scalar/incomplete_gamma.h"

namespace weir::scalar {

// Returns: x^a y^b / (a B(a, b)) for y = 1 - x.
inline double BetaWeight(double a, double b, double x, double y) {
  const double from_mode = x * b - y * a;  // x (a + b) - a
  const double deviance = a * LogDeviance(from_mode / a, x * ((a + b) / a)) +
                          b * LogDeviance(-from_mode / b, y * ((a + b) / b));
  const double rest = StirlingRest(a + b) - StirlingRest(a) - StirlingRest(b);
  return Exp(rest - deviance) * Sqrt(b / (a + b) / (0x1.921fb54442d18p+2 * a));
}

// Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
inline double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 0x1p-1000;
  const auto nonzero = [](double v) { return Abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), h = d;
  for (int n = 1; n < kMaxTerms; ++n) {
    const double even = n * ((b - n) / (a + 2 * n - 1)) * (x / (a + 2 * n));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    h *= c * d;
    const double odd = -(a + n) / (a + 2 * n) * ((a + b + n) / (a + 2 * n + 1)) * x;
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const double factor = c * d;
    h *= factor;
    if (!(Abs(factor - 1) > 0x1p-53)) break;
  }
  return h;
}

// NaN unless a > 0, b > 0, a + b finite, and 0 <= x <= 1. The fraction needs about sqrt(a + b)
// terms, so beyond 10^7 the result loses digits where x is near a / (a + b).
inline double Betainc(double a, double b, double x) {
  const bool inside = a > 0 && b > 0 && a + b < kInf<double> && x >= 0 && x <= 1;
  if (!inside) return kNaN<double>;
  if (x == 0 || x == 1) return x;
  const double y = 1 - x;
  if (x <= (a + 1) / (a + b + 2)) return BetaWeight(a, b, x, y) * BetaFraction(a, b, x);
  return 1 - BetaWeight(b, a, y, x) * BetaFraction(b, a, y);
}
inline float Betainc(float a, float b, float x) {
  return static_cast<float>(Betainc(double{a}, double{b}, double{x}));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_INCOMPLETE_BETA_H_
