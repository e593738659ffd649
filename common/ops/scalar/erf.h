// erf, erfc and the inverse of erf. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_ERF_H_
#define WEIR_COMMON_OPS_SCALAR_ERF_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

// Returns: erf(x) / x - 1 for x^2 = z; up to 0.85 (float), 1 (double).
WEIR_ALWAYS_INLINE float ErfSeries(float z) {
  return Poly(z, 0x1.06eba8p-3f, -0x1.812742p-2f, 0x1.ce2df2p-4f, -0x1.b80db2p-6f, 0x1.54c5a6p-8f,
              -0x1.aa4e96p-11f, 0x1.5d5c98p-14f);
}
WEIR_ALWAYS_INLINE double ErfSeries(double z) {
  return Poly(z, 0x1.06eba8214db68p-3, -0x1.812746b0379b5p-2, 0x1.ce2f21a040b02p-4,
              -0x1.b82ce311f7069p-6, 0x1.565bccf908894p-8, -0x1.c02db03ff6859p-11,
              0x1.f9a2bb4bba0e4p-14, -0x1.f4ca5bb2856d7p-17, 0x1.b9807f233887fp-20,
              -0x1.5c0bc3130e26fp-23, 0x1.d73d744d56d18p-27, -0x1.ac1a4196e3b8fp-31);
}

// Returns: erfc(a) for a >= 1/2.
WEIR_ALWAYS_INLINE double ErfcTail(double a) {
  const double t = (a - 3.75) / (a + 3.75);
  const double g = Poly(
      t, 0x1.3ccda0b5d5dc2p0, -0x1.1f367683f89a6p-3, 0x1.d5f29481621a4p-9, 0x1.510169d096723p-4,
      -0x1.bda9309a334a9p-4, 0x1.7a14188a9bca4p-4, -0x1.e0d0fa6c61375p-5, 0x1.d0b0037d3609dp-6,
      -0x1.3f603c79e8674p-7, 0x1.cc3a0e8130551p-10, 0x1.33fb5edac374fp-12, -0x1.303fa6cc62c03p-12,
      0x1.b13c6818be247p-15, 0x1.778c7a199eb85p-16, -0x1.7faea142f505dp-17, -0x1.05879364f890dp-20,
      0x1.d167f6e38f4cep-20, -0x1.df331168083a1p-25, -0x1.fd945325116fbp-23, 0x1.725653a8dec9cp-26,
      0x1.955579908541dp-26, -0x1.68bfbb2cb9a95p-29);
  const Pair<double> square = TwoProduct(a, a);
  return Exp(Pair<double>{-square.high, -square.low}) * (g / (a * 2 + 1));
}

// The same to 2^-28, for float arguments.
WEIR_ALWAYS_INLINE double ErfcTailRough(double a) {
  const double t = (a - 4) / (a + 4);
  const double g = Poly(t, 0x1.3ba59171932e9p0, -0x1.1df1a715db8b2p-3, 0x1.f7f4ebc4a17a3p-7,
                        0x1.16ea2ec694953p-4, -0x1.9dd9690353f91p-4, 0x1.801b8a3dd88eep-4,
                        -0x1.0fa0c7844936ep-4, 0x1.2e3d2f1af89a7p-5, -0x1.0df508552567ep-6,
                        0x1.6dd3f68447a02p-8, 0x1.6ab6345e984cep-13);
  return Exp2Rough(a * a * -0x1.71547652b82fep0) * g / (a * 2 + 1);
}

WEIR_ALWAYS_INLINE double Erf(double x) {
  const double a = Abs(x);
  const double near = a + a * ErfSeries(a * a);
  const double tail = ErfcTail(Select(a < 6, a, 6.0));  // NaN stays in `near`
  return FlipSign(Select(a >= 1, 1 - tail, near), SignOf(x));
}

WEIR_ALWAYS_INLINE float Erf(float x) {
  const float a = AtMost(Abs(x), 4.0f);
  const float near = a + a * ErfSeries(a * a);
  const float log_erfc =
      Poly(a, 0x1.34cb9ap-12f, -0x1.21505ap0f, -0x1.4394b8p-1f, -0x1.c24222p-4f, 0x1.af7dep-6f,
           -0x1.36046ep-8f, 0x1.35ba0cp-11f, -0x1.7c8044p-15f, 0x1.ae39b6p-20f);
  return FlipSign(Select(a < 0.92f, near, 1 - Exp(log_erfc)), SignOf(x));
}

WEIR_ALWAYS_INLINE double Erfc(double x) {
  const double a = Abs(x);
  const double near = 1 - (x + x * ErfSeries(a * a));
  const double tail = ErfcTail(Select(a < 28, a, 28.0));  // NaN stays in `near`
  return Select(a >= 0.5, Select(x < 0, 2 - tail, tail), near);
}

WEIR_ALWAYS_INLINE float Erfc(float x) {
  const double wide = x;
  const double a = AtMost(Abs(wide), 11.0);
  const double series = Poly(a * a, 0x1.06eba7eede8d8p-3, -0x1.812732d906caap-2,
                             0x1.ce2521bef7918p-4, -0x1.b667d6eb9783ep-6, 0x1.3553411f239ebp-8);
  const double tail = ErfcTailRough(a);
  const double far = Select(wide < 0, 2 - tail, tail);
  return static_cast<float>(Select(a < 0.5, 1 - (wide + wide * series), far));
}

// Returns: the inverse at x, given its quotient by x; infinite at 1 and -1, NaN beyond.
WEIR_ALWAYS_INLINE double ErfInvOf(double x, double quotient) {
  const double a = Abs(x);
  const double end = Select(a == 1, FlipSign(kInf<double>, SignOf(x)), kNaN<double>);
  return Select(a < 1, x * quotient, end);
}

WEIR_ALWAYS_INLINE double ErfInv(double x) {
  const double w = -Log((1 - x) * (1 + x));
  const double root = Sqrt(w);
  const double near = Poly(
      w, 0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee55bp-3, 0x1.7a72e72c2f08dp-7, -0x1.32110261030a3p-9,
      -0x1.0c86b72a7e0cep-13, 0x1.87013bfbed673p-15, 0x1.0f2135c036c93p-19, -0x1.0fd89df7228dep-20,
      -0x1.3eaeb3f6a8fecp-25, 0x1.845f918372baap-26, 0x1.e826ef6a2b09bp-31, -0x1.46c2b1bec38d4p-31,
      0x1.4a6a64954e232p-37, 0x1.f3cb2e11c678dp-38, -0x1.623bc258c67fep-43, 0x1.4643cd931f0d2p-41,
      -0x1.ae5a9edadaaa5p-42, 0x1.e1a0f1a126faep-44, -0x1.441cfa32b0b70p-46, 0x1.2265ea8d4fdb4p-49,
      -0x1.620ce0cf540a6p-53, 0x1.1d4ffe87c85a5p-57, -0x1.144dfb96e3921p-62, 0x1.e9b8ae7230c25p-69);
  const double middle = Poly(
      root - 3.25, 0x1.8abcc380d5a48p+1, 0x1.0158a6d641d39p+0, 0x1.5ffcfe5b6db7ap-8,
      -0x1.ebadabb88eb36p-9, 0x1.468eeca887021p-9, -0x1.ba924133966efp-10, 0x1.f3cc54ba4185ap-11,
      -0x1.7448a8807fc16p-12, 0x1.932deb51d5effp-16, 0x1.1e684a09f878bp-14, -0x1.8cf1ea476ca5dp-15,
      0x1.a29a626bd0bb9p-17, 0x1.88e7be48aa51ap-19, -0x1.0d5f12f3cb324p-18, 0x1.918866d43073fp-20,
      0x1.3acdcdc26635cp-26, -0x1.206ae34abd5a9p-22, 0x1.85a326c1cb527p-24, -0x1.a53a301e22b57p-32);
  const double far = Poly(root - 5, 0x1.3664ddd1ad7fcp+2, 0x1.02a30d1fba0dap+0,
                          -0x1.22ea5df4b4407p-13, -0x1.c2f36a8f4c151p-13, 0x1.3ebf4f6c0656dp-14,
                          -0x1.4a3497ffb2b57p-16, 0x1.2fbccb9a8c1a3p-18, -0x1.0a8d3bc1fc2f8p-20,
                          0x1.ebf701891ccefp-23, -0x1.22d251911d405p-24, 0x1.f1ad641cef116p-26,
                          -0x1.010516ef74bbdp-26, 0x1.0cefe3d46ac2ep-27, -0x1.045aa8b31750bp-28,
                          0x1.7ac7ceebe995ap-30, -0x1.195f5834c2231p-32, 0x1.6c8cdcc2a2d8cp-38);
  return ErfInvOf(x, Select(w < 6.25, near, Select(w < 16, middle, far)));
}

WEIR_ALWAYS_INLINE float ErfInv(float x) {
  const double wide = x;
  const double w = Log2Rough((1 - wide) * (1 + wide)) * -0x1.62e42fefa39efp-1;
  const double near = Poly(w, 0x1.c5bf898e8da01p-1, 0x1.db29b4dba3ec6p-3, 0x1.7a9041bebd318p-7,
                           -0x1.334ca32f127fbp-9, -0x1.e118a2e54218ap-14, 0x1.282bef66f1f9cp-15,
                           0x1.0f86c1b2921c0p-17, -0x1.a1783b1064e3cp-19, 0x1.b92212c3dfe91p-22,
                           -0x1.c6179ee8ae6d2p-26, 0x1.7fee918c31586p-31);
  const double far =
      Poly(Sqrt(w) - 3.25, 0x1.8abcc3a700e1ep+1, 0x1.0158a15478595p+0, 0x1.5fed825aff724p-8,
           -0x1.eab6bd27036bfp-9, 0x1.47643866f99e7p-9, -0x1.c646db9ad22cfp-10,
           0x1.f0b0c8b92d0e7p-11, -0x1.0c01d68b198a5p-12, -0x1.7e8cbd3378860p-18);
  return static_cast<float>(ErfInvOf(wide, Select(w < 6.25, near, far)));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_ERF_H_
