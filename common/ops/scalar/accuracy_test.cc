// How far the elementary functions are from the long double library: a stride through all floats,
// random doubles, and the range where each function does something. The limits here are what the
// library promises.
#include <cmath>
#include <random>
#include <string>

#include "common/ops/scalar/scalar.h"
#include "gtest/gtest.h"

namespace weir::scalar {
namespace {

using Exact = long double;

template <Real T>
Exact UlpAt(Exact x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent;
  return std::ldexp(Exact{1}, std::max(exponent, lowest) - 1 - Layout<T>::kMantissaBits);
}

// In units of the last place of the exact result; infinite where a special value is wrong.
template <Real T>
double Error(T found, Exact exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isnan(found)) {
    return std::isnan(exact) && std::isnan(found) ? 0 : INFINITY;
  }
  if (found == rounded && std::isinf(rounded)) return 0;
  if (std::isinf(exact)) return INFINITY;
  if (exact == 0) return found == 0 && std::signbit(found) == std::signbit(exact) ? 0 : INFINITY;
  const Exact bound = std::ldexp(Exact{1}, std::numeric_limits<T>::max_exponent);
  const Exact value = std::isinf(found) ? std::copysign(bound, Exact{found}) : Exact{found};
  return static_cast<double>(std::fabs(value - exact) / UlpAt<T>(exact));
}

template <Real T>
std::vector<T> Arguments(double lo, double hi) {
  constexpr int kCount = 30000;
  std::vector<T> xs = {0, T(-0.0), 1, -1, kInf<T>, -kInf<T>, kNaN<T>, T(0.5), T(-0.5), 2, -2};
  for (T x : {std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(),
              std::numeric_limits<T>::max()}) {
    xs.push_back(x);
    xs.push_back(-x);
  }
  // Where functions change from one formula to another.
  for (int eighths = -320; eighths <= 320; ++eighths) xs.push_back(T(eighths) / 8);
  std::mt19937_64 random(1);
  const uint64_t step = std::numeric_limits<uint32_t>::max() / kCount;
  for (int i = 0; i < kCount; ++i) {
    const uint64_t bits = sizeof(T) == 4 ? i * step + random() % step : random();
    xs.push_back(FromBits<T>(static_cast<BitsT<T>>(bits)));
    xs.push_back(static_cast<T>(lo + (hi - lo) * (static_cast<double>(random() >> 11) * 0x1p-53)));
  }
  return xs;
}

// Largest error over the arguments for which `counts` holds, with the place where it is.
template <Real T, class Function, class Reference, class Counts>
void ExpectWithin(double limit, const char* name, double lo, double hi, Function function,
                  Reference reference, Counts counts) {
  double worst = 0;
  T at = 0;
  for (T x : Arguments<T>(lo, hi)) {
    if (!counts(x)) continue;
    const double error = Error(function(x), reference(Exact{x}));
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  EXPECT_LE(worst, limit) << name << (sizeof(T) == 4 ? "<float>" : "<double>") << " at " << at
                          << " gives " << function(at) << ", not "
                          << static_cast<double>(reference(Exact{at}));
}

Exact LogisticExact(Exact x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
Exact SoftplusExact(Exact x) {
  return std::isnan(x) ? x : std::fmax(x, 0) + log1pl(expl(-std::fabs(x)));
}
Exact RsqrtExact(Exact x) { return 1 / sqrtl(x); }

Exact ErfInvExact(Exact x) {
  const Exact a = std::fabs(x);
  if (a == 0 || std::isnan(x)) return x;
  if (a >= 1) return a == 1 ? x * INFINITY : NAN;
  Exact y = ErfInv(static_cast<double>(a));
  for (int i = 0; i < 2; ++i) {
    const Exact excess = a < 0.5 ? erfl(y) - a : (1 - a) - erfcl(y);
    y -= excess * expl(y * y) * 0.886226925452758013649L;
  }
  return std::copysign(y, x);
}

Exact DigammaExact(Exact x) {
  if (std::isnan(x) || x == INFINITY) return x;
  if (x == 0) return std::signbit(x) ? INFINITY : -INFINITY;
  if (x < 0) {
    const Exact f = x - rintl(x);
    return f == 0 ? NAN : DigammaExact(1 - x) - M_PIl / tanl(M_PIl * f);
  }
  Exact sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  const Exact z = 1 / (x * x);
  const Exact tail = 1.0L / 240 - z * (1.0L / 132 - z * (691.0L / 32760 - z / 12));
  return sum + logl(x) - 0.5L / x -
         z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * tail)));
}

constexpr auto kAlways = [](auto) { return true; };

#define WEIR_EXPECT_WITHIN(Function, exact, f32_limit, f64_limit, lo, hi) \
  ExpectWithin<float>(                                                    \
      f32_limit, #Function, lo, hi, [](float x) { return Function(x); },  \
      [](Exact x) -> Exact { return exact(x); }, kAlways);                \
  ExpectWithin<double>(                                                   \
      f64_limit, #Function, lo, hi, [](double x) { return Function(x); }, \
      [](Exact x) -> Exact { return exact(x); }, kAlways)

TEST(ScalarAccuracyTest, ExponentialsAndLogarithms) {
  WEIR_EXPECT_WITHIN(Exp, expl, 1, 1, -90, 90);
  WEIR_EXPECT_WITHIN(Exp, expl, 1, 1, -745, 710);
  WEIR_EXPECT_WITHIN(Exp2, exp2l, 1, 1.01, -150, 150);
  WEIR_EXPECT_WITHIN(Expm1, expm1l, 1.6, 1.7, -2, 2);
  WEIR_EXPECT_WITHIN(Expm1, expm1l, 1.6, 1.7, -40, 90);
  WEIR_EXPECT_WITHIN(Log, logl, 1, 1, 0, 3);
  WEIR_EXPECT_WITHIN(Log2, log2l, 0.51, 1, 0, 3);
  WEIR_EXPECT_WITHIN(Log10, log10l, 0.51, 1, 0, 3);
  WEIR_EXPECT_WITHIN(Log1p, log1pl, 1, 1, -1, 3);
}

TEST(ScalarAccuracyTest, Trigonometry) {
  WEIR_EXPECT_WITHIN(Asin, asinl, 2, 2, -1, 1);
  WEIR_EXPECT_WITHIN(Acos, acosl, 2, 2, -1, 1);
  WEIR_EXPECT_WITHIN(Atan, atanl, 2, 2, -3, 3);
  const auto near = [](double x) { return Abs(x) < kFar || !IsFinite(x); };
#define WEIR_EXPECT_TRIG(Function, exact, f64_limit)                               \
  for (double bound : {1.0, 10.0, 1e6}) {                                          \
    ExpectWithin<float>(                                                           \
        0.51, #Function, -bound, bound, [](float x) { return Function(x); },       \
        [](Exact x) -> Exact { return exact(x); }, kAlways);                       \
    ExpectWithin<double>(                                                          \
        f64_limit, #Function, -bound, bound, [](double x) { return Function(x); }, \
        [](Exact x) -> Exact { return exact(x); }, near);                          \
  }
  WEIR_EXPECT_TRIG(Sin, sinl, 1)
  WEIR_EXPECT_TRIG(Cos, cosl, 1)
  WEIR_EXPECT_TRIG(Tan, tanl, 2.5)
}

// Beyond kFar the promise is absolute.
TEST(ScalarAccuracyTest, LargeAngles) {
  double worst = 0;
  for (double x : Arguments<double>(kFar, 1e18)) {
    if (!IsFinite(x)) continue;
    worst = std::max(worst, static_cast<double>(std::fabs(Sin(x) - sinl(Exact{x}))));
    worst = std::max(worst, static_cast<double>(std::fabs(Cos(x) - cosl(Exact{x}))));
  }
  EXPECT_LE(worst, 0x1p-51);
}

// The hardest arguments: neighbours of multiples of pi / 2.
TEST(ScalarAccuracyTest, AnglesNearMultiplesOfAQuarterTurn) {
  double worst = 0;
  for (int k = 1; k < 600000; k += 53) {
    const double angle = k * 1.57079632679489661923;
    for (double x : {angle, NextAfter(angle, 0.0), NextAfter(angle, 1e9)}) {
      worst = std::max(worst, Error(Sin(x), sinl(Exact{x})));
      worst = std::max(worst, Error(Cos(x), cosl(Exact{x})));
      const float narrow = static_cast<float>(x);
      worst = std::max(worst, Error(Sin(narrow), sinl(Exact{narrow})));
      worst = std::max(worst, Error(Cos(narrow), cosl(Exact{narrow})));
    }
  }
  EXPECT_LE(worst, 1);
}

TEST(ScalarAccuracyTest, HyperbolicFunctions) {
  WEIR_EXPECT_WITHIN(Sinh, sinhl, 2, 2, -3, 3);
  WEIR_EXPECT_WITHIN(Sinh, sinhl, 2, 2, -90, 90);
  WEIR_EXPECT_WITHIN(Cosh, coshl, 2, 2, -90, 90);
  WEIR_EXPECT_WITHIN(Tanh, tanhl, 2, 2, -3, 3);
  WEIR_EXPECT_WITHIN(Asinh, asinhl, 2, 2, -3, 3);
  WEIR_EXPECT_WITHIN(Acosh, acoshl, 2, 2, 1, 3);
  WEIR_EXPECT_WITHIN(Atanh, atanhl, 2, 2, -1, 1);
  WEIR_EXPECT_WITHIN(Logistic, LogisticExact, 2, 2, -10, 10);
  WEIR_EXPECT_WITHIN(Logistic, LogisticExact, 2, 2, -110, 110);
  WEIR_EXPECT_WITHIN(Softplus, SoftplusExact, 2, 2, -10, 10);
}

TEST(ScalarAccuracyTest, ErrorFunctions) {
  WEIR_EXPECT_WITHIN(Erf, erfl, 2, 2, -4, 4);
  WEIR_EXPECT_WITHIN(Erfc, erfcl, 1, 4, -6, 28);
  WEIR_EXPECT_WITHIN(ErfInv, ErfInvExact, 1, 4, -1, 1);
  WEIR_EXPECT_WITHIN(ErfInv, ErfInvExact, 1, 4, 0.999, 1);
}

TEST(ScalarAccuracyTest, GammaFunctions) {
  const auto lgamma = [](auto x) { return Lgamma(x); };
  const auto lgamma_exact = [](Exact x) { return lgammal(x); };
  const auto digamma = [](auto x) { return Digamma(x); };
  const auto right = [](auto x) { return x > -0.5 || IsNan(x); };
  const auto positive = [](auto x) { return x >= 0 && Abs(x - 1.4616321449683623) > 1e-3; };
  for (double hi : {3.0, 20.0, 2000.0}) {
    ExpectWithin<double>(4, "Lgamma", -0.5, hi, lgamma, lgamma_exact, right);
    ExpectWithin<float>(0.51, "Lgamma", -0.5, hi, lgamma, lgamma_exact, right);
    ExpectWithin<double>(6, "Digamma", 0, hi, digamma, DigammaExact, positive);
    ExpectWithin<float>(0.51, "Digamma", 0, hi, digamma, DigammaExact, positive);
  }
  for (double x = -20.037; x < 1.99; x += 0.0371) {
    const double slack = 1e-14 * (1 + std::fabs(Digamma(x)));
    EXPECT_NEAR(Lgamma(x), static_cast<double>(lgammal(x)), 1e-13) << x;
    EXPECT_NEAR(Digamma(x), static_cast<double>(DigammaExact(x)), slack) << x;
  }
  EXPECT_EQ(Lgamma(-3.0), kInf<double>);
  EXPECT_TRUE(IsNan(Digamma(-3.0)));
}

TEST(ScalarAccuracyTest, Roots) {
  WEIR_EXPECT_WITHIN(Cbrt, cbrtl, 0.51, 0.51, -30, 30);
  WEIR_EXPECT_WITHIN(Rsqrt, RsqrtExact, 1.5, 1.5, 0, 4);
  WEIR_EXPECT_WITHIN(Sqrt, sqrtl, 0.51, 0.51, 0, 4);
}

template <Real T, class Function, class Reference>
void ExpectBinaryWithin(double limit, const char* name, double x_lo, double x_hi, double y_lo,
                        double y_hi, Function function, Reference reference) {
  const std::vector<T> xs = Arguments<T>(x_lo, x_hi), ys = Arguments<T>(y_lo, y_hi);
  double worst = 0;
  size_t at = 0;
  std::vector<std::pair<T, T>> pairs;
  for (size_t i = 0; i < 17; ++i) {
    for (size_t j = 0; j < 17; ++j) pairs.push_back({xs[i], ys[j]});
  }
  for (size_t i = 17; i + 2 < xs.size(); ++i) pairs.push_back({xs[i], ys[ys.size() - 2 - i + 17]});
  for (size_t i = 18; i + 2 < xs.size(); i += 2) pairs.push_back({xs[i], ys[i + 2]});
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [x, y] = pairs[i];
    const double error = Error(function(x, y), reference(Exact{x}, Exact{y}));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  const auto [x, y] = pairs[at];
  EXPECT_LE(worst, limit) << name << (sizeof(T) == 4 ? "<float>" : "<double>") << " at (" << x
                          << ", " << y << ") gives " << function(x, y) << ", not "
                          << static_cast<double>(reference(Exact{x}, Exact{y}));
}

TEST(ScalarAccuracyTest, FunctionsOfTwo) {
  const auto pow = [](auto x, auto y) { return Pow(x, y); };
  const auto pow_exact = [](Exact x, Exact y) { return powl(x, y); };
  ExpectBinaryWithin<float>(0.52, "Pow", 0, 100, -40, 40, pow, pow_exact);
  ExpectBinaryWithin<float>(0.52, "Pow", 0.9, 1.1, -900, 900, pow, pow_exact);
  ExpectBinaryWithin<double>(1, "Pow", 0, 100, -300, 300, pow, pow_exact);
  ExpectBinaryWithin<double>(1, "Pow", 0.9, 1.1, -7000, 7000, pow, pow_exact);
  ExpectBinaryWithin<double>(1, "Pow", 0.999999, 1.000001, -7e8, 7e8, pow, pow_exact);
  const auto atan2 = [](auto y, auto x) { return Atan2(y, x); };
  const auto atan2_exact = [](Exact y, Exact x) { return atan2l(y, x); };
  ExpectBinaryWithin<float>(2, "Atan2", -2, 2, -2, 2, atan2, atan2_exact);
  ExpectBinaryWithin<double>(2, "Atan2", -2, 2, -2, 2, atan2, atan2_exact);
  const auto hypot = [](auto x, auto y) { return Hypot(x, y); };
  const auto hypot_exact = [](Exact x, Exact y) { return hypotl(x, y); };
  ExpectBinaryWithin<float>(0.51, "Hypot", -2, 2, -2, 2, hypot, hypot_exact);
  ExpectBinaryWithin<double>(2, "Hypot", -2, 2, -2, 2, hypot, hypot_exact);
}

TEST(ScalarAccuracyTest, ExactWhereTheResultIsRepresentable) {
  for (int x = -20; x <= 20; ++x) {
    double power = 1;
    for (int y = 0; y <= 12; ++y, power *= x) {
      EXPECT_EQ(Pow(static_cast<double>(x), static_cast<double>(y)), power) << x << "^" << y;
    }
    EXPECT_EQ(Cbrt(static_cast<double>(x) * x * x), x);
    EXPECT_EQ(Exp2(static_cast<float>(x)), std::ldexp(1.0f, x));
  }
  for (int n = -1074; n < 1024; ++n) EXPECT_EQ(Log2(std::ldexp(1.0, n)), n);
  double ten = 1;
  for (int n = 0; n <= 22; ++n, ten *= 10) EXPECT_EQ(Log10(ten), n);
}

}  // namespace
}  // namespace weir::scalar
