// The Fresnel integrals of sin(pi t^2 / 2) and cos(pi t^2 / 2). Pure functions; usable from any
// thread.
//
// Series near 0 (Abramowitz and Stegun 7.3.11, 7.3.13), the auxiliary functions f and g (7.3.9,
// 7.3.10) elsewhere, both by Chebyshev interpolation. Computes in double; float results are rounded
// from that.
#ifndef WEIR_COMMON_OPS_SCALAR_FRESNEL_H_
#define WEIR_COMMON_OPS_SCALAR_FRESNEL_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/gamma.h"

namespace weir::scalar {

struct Fresnel {
  double sin;
  double cos;
};

// Modulo 4, between -2 and 2.
WEIR_ALWAYS_INLINE double Quarters(double x) { return x - 4 * RoundHalfEven(x * 0.25); }

// Sine and cosine of pi a^2 / 2.
WEIR_ALWAYS_INLINE SinCos SinCosOfSquare(double a) {
  const Pair<double> square = TwoProduct(a, a);
  const double turns = 0.5 * (Quarters(square.high) + Quarters(square.low));
  const double whole = RoundHalfEven(turns);
  const SinCos s = SinCosPi(turns - whole);
  const bool odd = RoundHalfEven(whole * 0.5) * 2 != whole;
  return {Select(odd, -s.sin, s.sin), Select(odd, -s.cos, s.cos)};
}

// For a >= 1.6, by the auxiliary functions f and g.
WEIR_ALWAYS_INLINE Fresnel FresnelFar(double a) {
  const double inverse = 1 / (a * a), w = inverse * inverse;
  const double far = AtMost(w, 1.0 / 64), middle = AtLeast(w, 1.0 / 64);
  const double t = (2 * middle - (1.0 / 64 + 1 / 6.5536)) / (1 / 6.5536 - 1.0 / 64);
  const double f_far = Poly(128 * far - 1, 0x1.fed0c60336153p-1, -0x1.27b7532a94439p-9,
                            0x1.c2fa4cb3e3b84p-15, -0x1.a91408dbb1d54p-19, 0x1.53c155213d477p-22,
                            -0x1.81cf0963f62d0p-25, 0x1.1997fd1cf8702p-27, -0x1.f0752844ac79bp-30,
                            0x1.f98afc1b46c6bp-32, -0x1.2135f704f5c2dp-33, 0x1.855880d7a927ep-35,
                            -0x1.1872d4fddd45ep-36, 0x1.833ba2a939f14p-39, -0x1.35cb99ae2ac17p-41,
                            0x1.2b8863bc2f6c5p-39, -0x1.29e75967da381p-40);
  const double f_middle = Poly(
      t, 0x1.f5533641a1c0ap-1, -0x1.d6f9223e90ffcp-7, 0x1.9220fccf529d8p-10, -0x1.3b8c7054c0be6p-12,
      0x1.515ae0b577530p-14, -0x1.b3a5bd14c61e4p-16, 0x1.3fbcc62535fd9p-17, -0x1.018ddfd4681d8p-18,
      0x1.bd6fa0af127a6p-20, -0x1.979ac408ec31fp-21, 0x1.8683f3dbe7ed6p-22, -0x1.7fd0215d42d02p-23,
      0x1.843d04c81becbp-24, -0x1.de87ba360c445p-25, 0x1.2461a2d48bfb2p-25, 0x1.638eca322f449p-29,
      -0x1.430fcb0a7a625p-27, -0x1.256854fa67e08p-25, 0x1.087eeaafc1fbbp-25, 0x1.18db5bf763afbp-25,
      -0x1.fe0d459ea359dp-26, -0x1.c8dd818ebae5ap-26, 0x1.7f512f80cc801p-26, 0x1.8e1c266a6a52bp-27,
      -0x1.4040b9a6aa3b0p-27, -0x1.6596487e27371p-29, 0x1.0e775d39e58ebp-29);
  const double g_far = Poly(
      128 * far - 1, 0x1.fa31e8b68bc40p-1, -0x1.638d558f9c846p-7, 0x1.d37fb5763189cp-12,
      -0x1.2ee81c2b1c283p-15, 0x1.2cb50fd77cc99p-18, -0x1.90c7f117ca424p-21, 0x1.4b64080bf7912p-23,
      -0x1.431e202d47f83p-25, 0x1.66d3899d14499p-27, -0x1.bc26f137e51d6p-29, 0x1.2c6db45bb4876p-30,
      -0x1.99dae6fc2095dp-32, 0x1.299bded10439cp-33, -0x1.8f56dd7d018dap-34, 0x1.a17f73c5f9c31p-35,
      0x1.8d56650f71fbap-37, -0x1.5ea1d65c4b9bfp-37, -0x1.908a068897a7cp-37, 0x1.d6904a26c8336p-38);
  const double g_middle = Poly(
      t, 0x1.d12c4b8e7475ep-1, -0x1.d13f15e19b503p-5, 0x1.3310c049e7570p-7, -0x1.319a531569880p-9,
      0x1.7e79b003945a1p-11, -0x1.154515882a6f1p-12, 0x1.bd9dad0d53a0ep-14, -0x1.828dd97bf147ep-15,
      0x1.63cd6116a7e6ap-16, -0x1.57706f919ad3cp-17, 0x1.58b2ecd93134dp-18, -0x1.649abfb841b2ep-19,
      0x1.7ae263d001d6bp-20, -0x1.ae59146af24f7p-21, 0x1.f4b2bd519b70dp-22, -0x1.3d7909fa62fdfp-23,
      0x1.ddf0384101346p-26, -0x1.64d61d459e69cp-22, 0x1.5693a7b7350d9p-22, 0x1.cc32b9b39811fp-22,
      -0x1.decef37df53aap-22, -0x1.4859640936c70p-21, 0x1.37ae6a635266ep-21, 0x1.2545714e103adp-21,
      -0x1.0aa154ec0e6d5p-21, -0x1.6bdbbc19a501dp-22, 0x1.3a6a43460eeb4p-22, 0x1.0b6715c5846cep-23,
      -0x1.bb64558b958f1p-24, -0x1.7ca8166bc2409p-26, 0x1.2d0f274175da2p-26);
  const bool is_far = w < 1.0 / 64;
  const double f = Select(is_far, f_far, f_middle) * (0x1.45f306dc9c883p-2 / a);
  const double g = Select(is_far, g_far, g_middle) * (0x1.9f02f6222c72p-4 * inverse / a);
  const SinCos s = SinCosOfSquare(a);
  return {0.5 - (f * s.cos + g * s.sin), 0.5 + (f * s.sin - g * s.cos)};
}

// The integrals of sin(pi t^2 / 2) and cos(pi t^2 / 2) from 0 to x.
WEIR_ALWAYS_INLINE Fresnel FresnelOf(double x) {
  const double a = Abs(x), z = a * a * (a * a);
  const double t = z * (2 / 6.5536) - 1;
  const double sin = a * a * a *
                     Poly(t, 0x1.27dfb864472fcp-2, -0x1.68b9cec81284dp-3, 0x1.9ab06bfabf56ap-5,
                          -0x1.f3fe0eb39055fp-8, 0x1.767699ba43b72p-11, -0x1.7ae7955b5f3dbp-15,
                          0x1.1431e0876e1a6p-19, -0x1.2fd84dcf5e11ap-24, 0x1.05361ffd19f6cp-29,
                          -0x1.68a9374e11dd3p-35, 0x1.98f1065a43355p-41, -0x1.832b94c19aa10p-47);
  const double cos =
      a * Poly(t, 0x1.c619e2233a323p-2, -0x1.663b2c010fafdp-2, 0x1.54e01957bae74p-3,
               -0x1.23da7e47495fdp-5, 0x1.1901a7bc51ce6p-8, -0x1.5ad806f8ef33ep-12,
               0x1.2a08fd82dc581p-16, -0x1.79547f2607c62p-21, 0x1.6ebaa67a2d67fp-26,
               -0x1.1a514dafc9d5ep-31, 0x1.611c6c6ab4e7bp-37, -0x1.6d748a54386bfp-43);
  const Fresnel far = FresnelFar(AtMost(AtLeast(a, 1.6), 0x1p60));
  const bool near = a < 1.6;
  return {FlipSign(Select(near, sin, far.sin), SignOf(x)),
          FlipSign(Select(near, cos, far.cos), SignOf(x))};
}
WEIR_ALWAYS_INLINE double FresnelSin(double x) { return FresnelOf(x).sin; }
WEIR_ALWAYS_INLINE double FresnelCos(double x) { return FresnelOf(x).cos; }

WEIR_ALWAYS_INLINE float FresnelSin(float x) { return static_cast<float>(FresnelSin(double{x})); }
WEIR_ALWAYS_INLINE float FresnelCos(float x) { return static_cast<float>(FresnelCos(double{x})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_FRESNEL_H_
