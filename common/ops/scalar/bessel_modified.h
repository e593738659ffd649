// The modified Bessel functions i0, i1, k0, k1, and the same scaled by exp(-|x|) or exp(x). Pure
// functions; usable from any thread.
//
// Near 0 the power series (Abramowitz and Stegun 9.6.12, 9.6.13), whose terms have one sign; else
// Chebyshev interpolation of the function divided by its exponential and multiplied with sqrt(x).
// All compute in double; float results are rounded from that.
#ifndef WEIR_COMMON_OPS_SCALAR_BESSEL_MODIFIED_H_
#define WEIR_COMMON_OPS_SCALAR_BESSEL_MODIFIED_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

inline constexpr double kFirstBand = 8;  // where the series of i0 and i1 end

// For a <= 8.
WEIR_ALWAYS_INLINE double BesselI0Near(double a) {
  return Poly(a * a * 0.25, 0x1p+0, 0x1p+0, 0x1p-2, 0x1.c71c71c71c71cp-6, 0x1.c71c71c71c71cp-10,
              0x1.23456789abcdfp-14, 0x1.02e85c0898b71p-19, 0x1.522a43f65486ap-25,
              0x1.522a43f65486ap-31, 0x1.0b313289be0b9p-37, 0x1.5601885e63e5dp-44,
              0x1.69ca9cf3b7f54p-51, 0x1.4197a7f5154bcp-58, 0x1.e725594ee52e9p-66,
              0x1.3e22d70ef3b5fp-73, 0x1.69f7da8510bcdp-81, 0x1.69f7da8510bcdp-89,
              0x1.40a2dc2460523p-97, 0x1.faaf2fa1c79e5p-106, 0x1.674f8e46c208cp-114,
              0x1.cbeaf38dc529fp-123, 0x1.0afb53e9cec0bp-131);
}
WEIR_ALWAYS_INLINE double BesselI1Near(double a) {
  return a * 0.5 *
         Poly(a * a * 0.25, 0x1p+0, 0x1p-1, 0x1.5555555555555p-4, 0x1.c71c71c71c71cp-8,
              0x1.6c16c16c16c17p-12, 0x1.845c8a0ce5129p-17, 0x1.27e4fb7789f5cp-22,
              0x1.522a43f65486ap-28, 0x1.2c9758daf5cd0p-34, 0x1.ab81ea75fcdf4p-41,
              0x1.f17697cf1cf13p-48, 0x1.e2637bef9ff1ap-55, 0x1.8bce58901a35ep-62,
              0x1.165e7c2d153f3p-69, 0x1.53585cdcbfb10p-77, 0x1.69f7da8510bcdp-85,
              0x1.54ad09e6a6575p-93, 0x1.1d028acb00491p-101, 0x1.aaae78f4066a6p-110,
              0x1.1f72d8389b3a3p-118, 0x1.5e69de22df5cep-127);
}
// Times sqrt(a) exp(-a), for a >= 8.
WEIR_ALWAYS_INLINE double BesselI0Far(double a) {
  return Poly(
      16 / a - 1, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93b86p-9, 0x1.1daa72b5e2bd7p-13,
      0x1.75e5ee7193c9bp-17, 0x1.8e513a708989ep-20, 0x1.3f49a7d62b2a7p-22, 0x1.7d0f1670e44e2p-24,
      0x1.51ce71adfb8dcp-25, 0x1.7232c4c122295p-26, 0x1.0393c5c549066p-27, -0x1.cfb20ddb53edep-28,
      -0x1.ccba1604bc157p-27, -0x1.7369bf37c026dp-28, 0x1.03813921d363bp-27, 0x1.fe9e1dd494c83p-28,
      -0x1.e1db3b1fc3ea4p-29, -0x1.99204d1a8bb30p-28, 0x1.a1d63d6d8235fp-30, 0x1.f3ff264907758p-29,
      -0x1.3a3b59d669595p-31, -0x1.bd05a336c6a58p-30, 0x1.4ffe43b34b0cap-33, 0x1.f741903e631b4p-32,
      -0x1.646da6611912bp-36, -0x1.0adb754ca8b1dp-34);
}
WEIR_ALWAYS_INLINE double BesselI1Far(double a) {
  return Poly(16 / a - 1, 0x1.8ebe783a84030p-2, -0x1.3f796198ee63ap-7, -0x1.cbc54df1e92e0p-13,
              -0x1.f89c2304b860ep-17, -0x1.ec8e106de0a2fp-20, -0x1.761384ba8ebf9p-22,
              -0x1.ad8d53e613985p-24, -0x1.7277b8802ae6ap-25, -0x1.918f9f9793789p-26,
              -0x1.21de6538102d1p-27, 0x1.cec9f53b94527p-28, 0x1.e3a948c415f47p-27,
              0x1.9a8f6afc3dd3dp-28, -0x1.0b4539bc94915p-27, -0x1.0f0aac74a7f0dp-27,
              0x1.ff8b852ecf6d8p-29, 0x1.acff7707fcc47p-28, -0x1.0183064563575p-29,
              -0x1.04c48e6f24f30p-28, 0x1.07047fc5cbf74p-30, 0x1.cf243016f9c30p-30,
              -0x1.c15e6112d1135p-32, -0x1.059e6bcc892fep-31, 0x1.fef895f7b3a4bp-34,
              0x1.1556db352e8eap-34, -0x1.12e7f21d2bffbp-36);
}
// far * exp(a) / sqrt(a), which overflows no earlier than the result.
WEIR_ALWAYS_INLINE double Grown(double far, double a) {
  const double half = Exp(AtMost(a, 1500.0) * 0.5);
  return half * (far / Sqrt(AtMost(a, 1500.0))) * half;
}

WEIR_ALWAYS_INLINE double BesselI0(double x) {
  const double a = Abs(x), far = AtLeast(a, kFirstBand);
  return Select(a <= kFirstBand, BesselI0Near(a), Grown(BesselI0Far(far), far));
}
WEIR_ALWAYS_INLINE double BesselI0e(double x) {
  const double a = Abs(x), far = AtLeast(a, kFirstBand);
  const double near = BesselI0Near(AtMost(a, kFirstBand)) * Exp(-a);
  return Select(a <= kFirstBand, near, BesselI0Far(far) / Sqrt(far));
}
WEIR_ALWAYS_INLINE double BesselI1(double x) {
  const double a = Abs(x), far = AtLeast(a, kFirstBand);
  const double y = Select(a <= kFirstBand, BesselI1Near(a), Grown(BesselI1Far(far), far));
  return FlipSign(y, SignOf(x));
}
WEIR_ALWAYS_INLINE double BesselI1e(double x) {
  const double a = Abs(x), far = AtLeast(a, kFirstBand);
  const double near = BesselI1Near(AtMost(a, kFirstBand)) * Exp(-a);
  return FlipSign(Select(a <= kFirstBand, near, BesselI1Far(far) / Sqrt(far)), SignOf(x));
}

// For x <= 1; infinite at 0, NaN below.
WEIR_ALWAYS_INLINE double BesselK0Near(double x) {
  const double z = x * x * 0.25;
  const double rest =
      Poly(z, -0x1.2788cfc6fb619p-1, 0x1.b0ee6072093cep-2, 0x1.d8773039049e7p-3,
           0x1.1dd628653175dp-5, 0x1.56b9b69e15041p-9, 0x1.f0f15a9e33057p-14, 0x1.e4e0d1aa7fb19p-19,
           0x1.54cf4f15d6d12p-24, 0x1.69f1f3553c199p-30, 0x1.2cd3496448444p-36);
  return (0x1.62e42fefa39efp-1 - Log(x)) * BesselI0Near(x) + rest;
}
WEIR_ALWAYS_INLINE double BesselK1Near(double x) {
  const double z = x * x * 0.25;
  const double rest = Poly(z, -0x1.3c467e37db0c8p-5, 0x1.58773039049e7p-3, 0x1.73ddae5ee6a28p-5,
                           0x1.3a47ef81a33cfp-8, 0x1.2462822a45268p-12, 0x1.5b7a177f5639bp-17,
                           0x1.1fa413136952dp-22, 0x1.5f60a13589756p-28, 0x1.4a1428fc835c7p-34,
                           0x1.ec021b49cd260p-41);
  const double y = (Log(x) - 0x1.62e42fefa39efp-1) * BesselI1Near(x) + (1 / x - x * rest);
  return Select(x == 0, kInf<double>, y);
}
// Times sqrt(x) exp(x), for x >= 1.
WEIR_ALWAYS_INLINE double BesselK0Far(double x) {
  return Poly(
      2 / x - 1, 0x1.30ae2423de262p+0, -0x1.ac450893fa53bp-5, 0x1.085a24b1d9766p-7,
      -0x1.f446a7e27d965p-10, 0x1.2a7215a2aa796p-11, -0x1.9db9cc1618e69p-13, 0x1.3f1d21493dac0p-14,
      -0x1.0ae1c65d8a23ap-15, 0x1.dbdb914b1332bp-17, -0x1.bee0a68c85611p-18, 0x1.b6403185f5408p-19,
      -0x1.bf0b9d2718e75p-20, 0x1.d7cebbfd6634dp-21, -0x1.e4e873cde59ecp-22, 0x1.f0787f17aaf97p-23,
      -0x1.f2470a20dcbd3p-23, 0x1.ad379910d6719p-23, 0x1.b3cfc1d435cb4p-23, -0x1.35a7caab5e8b3p-22,
      -0x1.3372d6414d7cfp-21, 0x1.63e0791de2e53p-21, 0x1.d8652c9fd8e46p-21, -0x1.06740bdd2d91bp-20,
      -0x1.14364335d45c2p-20, 0x1.21c8f14d2c85dp-20, 0x1.c167651fa407bp-21, -0x1.c22afc64b9cd4p-21,
      -0x1.ee837c66cb411p-22, 0x1.d9b98ed768c32p-22, 0x1.4859f51f8e22dp-23, -0x1.2e18fd139216dp-23,
      -0x1.989c91b4371a5p-26, 0x1.6886b2ee116e6p-26);
}
WEIR_ALWAYS_INLINE double BesselK1Far(double x) {
  return Poly(
      2 / x - 1, 0x1.7628990a85c65p+0, 0x1.80fb15bf9d15bp-3, -0x1.03bbb0fa2f66bp-6,
      0x1.97e59d89285ddp-9, -0x1.bab479ad4ce9dp-11, 0x1.21729ca43f5a0p-12, -0x1.acf5ab9d92b33p-14,
      0x1.5c524e36b38b0p-15, -0x1.2f8c3b21ca128p-16, 0x1.17edf9bbae709p-17, -0x1.0e779dd40dfbep-18,
      0x1.106647c76d24dp-19, -0x1.1c51672a49426p-20, 0x1.22e9d122a29ffp-21, -0x1.298d3af06c025p-22,
      0x1.1ce46d03e0243p-22, -0x1.e0b17ccb760fdp-23, -0x1.d06d5cf0f9eb0p-23, 0x1.4d0578dda963fp-22,
      0x1.4e40c31873421p-21, -0x1.81e3cb7068578p-21, -0x1.003af5660fe8ap-20, 0x1.1c4a2b6cae93ep-20,
      0x1.2bdbf21bfebc7p-20, -0x1.3a0c83f166221p-20, -0x1.e7ea0f2f75998p-21, 0x1.e7ec7b4762270p-21,
      0x1.0c8da9ebd38e6p-21, -0x1.00d1c0c3de268p-21, -0x1.64c2677c8bf1fp-23, 0x1.47aa3afabb3d9p-23,
      0x1.bc53cc6aefd94p-26, -0x1.8752cbc45490dp-26);
}

// One NaN for whatever has no result.
WEIR_ALWAYS_INLINE double FromZero(double x, double y) { return Select(x >= 0, y, kNaN<double>); }

WEIR_ALWAYS_INLINE double BesselK0(double x) {
  const double far = AtLeast(x, 1.0), decayed = BesselK0Far(far) / Sqrt(far) * Exp(-far);
  return FromZero(x, Select(x <= 1, BesselK0Near(AtMost(x, 1.0)), decayed));
}
WEIR_ALWAYS_INLINE double BesselK0e(double x) {
  const double far = AtLeast(x, 1.0), near = AtMost(x, 1.0);
  const double scaled = BesselK0Near(near) * Exp(near);
  return FromZero(x, Select(x <= 1, scaled, BesselK0Far(far) / Sqrt(far)));
}
WEIR_ALWAYS_INLINE double BesselK1(double x) {
  const double far = AtLeast(x, 1.0), decayed = BesselK1Far(far) / Sqrt(far) * Exp(-far);
  return FromZero(x, Select(x <= 1, BesselK1Near(AtMost(x, 1.0)), decayed));
}
WEIR_ALWAYS_INLINE double BesselK1e(double x) {
  const double far = AtLeast(x, 1.0), near = AtMost(x, 1.0);
  const double scaled = BesselK1Near(near) * Exp(near);
  return FromZero(x, Select(x <= 1, scaled, BesselK1Far(far) / Sqrt(far)));
}

#define WEIR_ROUNDED(Name) \
  WEIR_ALWAYS_INLINE float Name(float x) { return static_cast<float>(Name(double{x})); }
WEIR_ROUNDED(BesselI0)
WEIR_ROUNDED(BesselI0e)
WEIR_ROUNDED(BesselI1)
WEIR_ROUNDED(BesselI1e)
WEIR_ROUNDED(BesselK0)
WEIR_ROUNDED(BesselK0e)
WEIR_ROUNDED(BesselK1)
WEIR_ROUNDED(BesselK1e)
#undef WEIR_ROUNDED

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_BESSEL_MODIFIED_H_
