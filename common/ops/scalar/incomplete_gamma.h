// The regularized incomplete gamma functions, and what the incomplete beta function shares with
// them. Pure functions; usable from any thread.
//
// Series and continued fraction (Abramowitz and Stegun 6.5.29, 6.5.31), and for a >= 20 with x near
// a the uniform expansion of Temme (DLMF 8.12.8). Unlike the rest of the library these iterate
// until they have converged, at most kMaxTerms times, so loops around them do not vectorize; every
// target runs the same steps. They compute in double; float results are rounded from that.
#ifndef WEIR_COMMON_OPS_SCALAR_INCOMPLETE_GAMMA_H_
#define WEIR_COMMON_OPS_SCALAR_INCOMPLETE_GAMMA_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/erf.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/gamma.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

inline constexpr int kMaxTerms = 5000;
inline constexpr double kConverged = 0x1p-54;

// Returns: m - log(ratio) for ratio = 1 + m, without cancellation near 0.
inline double LogDeviance(double m, double ratio) {
  if (m > -0.29 && m < 0.41) {
    const LogSeries<double> s = LogNear1(m);
    return s.square - s.rest;
  }
  return m - Log(ratio);
}

// Returns: log gamma(1 + a) for 0 <= a <= 5/4.
inline double LogGamma1p(double a) {
  return a * Poly(a * 1.6 - 1, -0x1.65bde6b3e6004p-3, 0x1.49b276d6793adp-2, -0x1.e425e8ce3f6fcp-5,
                  0x1.ed37fdf8d6b19p-7, -0x1.1ee9ff1ff3da0p-8, 0x1.661157d68931cp-10,
                  -0x1.d236d4ef338bbp-12, 0x1.381a65ba4446bp-13, -0x1.aa2190b8b15f0p-15,
                  0x1.2722edd713206p-16, -0x1.9d5de12876ba8p-18, 0x1.2406f59045141p-19,
                  -0x1.9f90922996994p-21, 0x1.29724f9722deap-22, -0x1.abf33276c9582p-24,
                  0x1.351a12b145b17p-25, -0x1.c049675758182p-27, 0x1.4783fa61ec0a7p-28,
                  -0x1.dea17af18a9c7p-30, 0x1.50a8a47f4131fp-31, -0x1.e990901ddc1e9p-33,
                  0x1.c710bc48e5a13p-34, -0x1.598099ba14d52p-35, 0x1.31e92f74ca5f8p-39,
                  -0x1.bccf193ee6351p-42, 0x1.2b3a31d58cf49p-38, -0x1.cd539e70d35fbp-40);
}

// Returns: log gamma(a) minus Stirling's (a - 1/2) log(a) - a + log(2 pi) / 2.
inline double StirlingRest(double a) {
  if (!(a >= 10)) return Lgamma(a) - (a - 0.5) * Log(a) + a - 0x1.d67f1c864beb5p-1;
  const double inverse = 1 / a, z = inverse * inverse;
  return inverse * Poly(z, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
                        -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
                        0x1.a41a41a41a41ap-8);
}

// Returns: x^a exp(-x) / gamma(a + 1) for a > 0 and 0 < x < inf.
inline double GammaWeight(double a, double x) {
  if (a < 1) return Exp(a * Log(x) - x - LogGamma1p(a));
  const double m = (x - a) / a;
  return Exp(-a * LogDeviance(m, x / a) - StirlingRest(a)) / Sqrt(0x1.921fb54442d18p+2 * a);
}

inline double LowerGammaSeries(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < kMaxTerms && term > sum * kConverged; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * GammaWeight(a, x);
}

// Lentz's method; for x > 1 and x > a.
inline double UpperGammaFraction(double a, double x) {
  double b = x + 1 - a, c = 0x1p1000, d = 1 / b, h = d;
  for (int n = 1; n < kMaxTerms; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double factor = c * d;
    h *= factor;
    if (!(Abs(factor - 1) > 0x1p-53)) break;
  }
  return h * a * GammaWeight(a, x);
}

// For small a and x, where 1 minus the series would cancel.
inline double UpperGammaSmall(double a, double x) {
  double power = 1, sum = 0;
  for (int n = 1; n < kMaxTerms; ++n) {
    power *= -x / n;
    const double term = power / (a + n);
    sum += term;
    if (!(Abs(term) > Abs(sum) * kConverged)) break;
  }
  const double log = a * Log(x) - LogGamma1p(a);
  return -Expm1(log) - Exp(log) * (a * sum);
}

// Temme's correction to the error function; for |x - a| <= 0.3 a and a >= 20.
inline double UniformRest(double a, double eta) {
  double c[10];
  c[0] = Poly(eta, -0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7,
              0x1.2f684bda12f68p-10, 0x1.71de3a556c734p-12, -0x1.76e06fec7273bp-13,
              0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20,
              0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28,
              0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31,
              -0x1.c0d9b6edf2b0bp-36);
  c[1] = Poly(eta, -0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9,
              -0x1.0394f6f09e723p-10, 0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22,
              -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17, -0x1.b0bdfcc629cbap-20,
              0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25,
              0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30);
  c[2] = Poly(eta, 0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11,
              0x1.0db20a88f4696p-19, -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15,
              -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25, 0x1.7058929663937p-20,
              -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33,
              -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28);
  c[3] = Poly(eta, 0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12,
              0x1.18b9b5bf2d984p-12, -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22,
              0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18, 0x1.7e0201539310ep-20,
              -0x1.ea23269c140a7p-36, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24,
              -0x1.4853ced169327p-26);
  c[4] = Poly(eta, -0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12,
              -0x1.88f2ae1def9d0p-20, 0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15,
              0x1.7db4c02846e81p-17, 0x1.13b3c5b7cb45ep-32, -0x1.c71c074985d3fp-20,
              0x1.de37d9f09164cp-21, -0x1.ec676cf33153cp-23);
  c[5] = Poly(eta, -0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12,
              -0x1.a2042c5148e27p-13, 0x1.1d1e9cb24760bp-14, 0x1.30bdcf208080ep-23,
              -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17, -0x1.338eb19652fd9p-19,
              -0x1.659cfde0bb2ebp-32, 0x1.741504e5c87c2p-22);
  c[6] = Poly(eta, 0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12,
              0x1.a8411da6cab49p-21, -0x1.5600945495b37p-14, 0x1.d6bdf83130dc1p-15,
              -0x1.3382f4cf48618p-16, -0x1.a74243fa27729p-29, 0x1.d115d4f5dcc68p-19);
  c[7] = Poly(eta, 0x1.691879c01efb4p-12, 0x1.b1d75d3346711p-15, -0x1.5f3385098cebfp-12,
              0x1.26eeb5ece1d9fp-12, -0x1.cc642787368cep-14, -0x1.119c70312e0a2p-23,
              0x1.d179830b113abp-16, -0x1.3269164e3e304p-16);
  c[8] = Poly(eta, -0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11, -0x1.cb967b4446107p-12,
              -0x1.762676b30cfd6p-21, 0x1.5d1157082916dp-13, -0x1.0c16fcea7ddb2p-13,
              0x1.84637d3f583cdp-15);
  c[9] = Poly(eta, -0x1.38dff1cc96982p-11, -0x1.2e31f9b7913eap-14, 0x1.63969bb825829p-11,
              -0x1.4f9f2582dd0a5p-11, 0x1.22fb20c28e8a0p-12);
  double sum = c[9];
  for (int k = 8; k >= 0; --k) sum = sum / a + c[k];
  return sum * Exp(-0.5 * a * eta * eta) / Sqrt(0x1.921fb54442d18p+2 * a);
}

enum class Tail { kLower, kUpper };

// For a > 0 and 0 < x < inf.
inline double IncompleteGammaInside(Tail tail, double a, double x) {
  const bool lower = tail == Tail::kLower;
  if (a >= 20 && Abs(x - a) <= 0.3 * a) {
    const double m = (x - a) / a;
    const double eta = CopySign(Sqrt(2 * LogDeviance(m, x / a)), m);
    const double side = eta * Sqrt(0.5 * a), rest = UniformRest(a, eta);
    return lower ? 0.5 * Erfc(-side) - rest : 0.5 * Erfc(side) + rest;
  }
  if (x > 1 && x > a) {
    const double upper = UpperGammaFraction(a, x);
    return lower ? 1 - upper : upper;
  }
  if (!lower && x < 1.1 && x * 1.1 > a) return UpperGammaSmall(a, x);
  const double below = LowerGammaSeries(a, x);
  return lower ? below : 1 - below;
}

// NaN unless a >= 0, x >= 0 and the two are neither both 0 nor both infinite.
inline double IncompleteGamma(Tail tail, double a, double x) {
  const double full = tail == Tail::kLower ? 1 : 0;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0)) return kNaN<double>;
  if (a == kInf<double> && x == kInf<double>) return kNaN<double>;
  if (a == 0 || x == kInf<double>) return full;
  if (x == 0 || a == kInf<double>) return 1 - full;
  return IncompleteGammaInside(tail, a, x);
}

inline double Igamma(double a, double x) { return IncompleteGamma(Tail::kLower, a, x); }
inline double Igammac(double a, double x) { return IncompleteGamma(Tail::kUpper, a, x); }
inline float Igamma(float a, float x) { return static_cast<float>(Igamma(double{a}, double{x})); }
inline float Igammac(float a, float x) { return static_cast<float>(Igammac(double{a}, double{x})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_INCOMPLETE_GAMMA_H_
