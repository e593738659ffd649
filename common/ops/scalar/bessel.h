// The Bessel functions j0, j1, y0 and y1. Pure functions; usable from any thread.
//
// Up to 5, Chebyshev interpolation in x^2, with the zero of j0 and j1 there split off; beyond, of
// the modulus and phase parts p and q of Hankel's expansion (Abramowitz and Stegun 9.2.5
// to 9.2.10). All compute in double; float results are rounded from that. Near the zeros beyond 5
// and those of y0 and y1 the error is a few 2^-53 of the amplitude. Like sin, they know large
// angles to 2^-51.
#ifndef WEIR_COMMON_OPS_SCALAR_BESSEL_H_
#define WEIR_COMMON_OPS_SCALAR_BESSEL_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/log.h"
#include "common/ops/scalar/trig.h"

namespace weir::scalar {

// For a <= 5.
WEIR_ALWAYS_INLINE double BesselJ0Near(double a) {
  const double z = a * a;
  const double from_zero = (z - 0x1.721fb80462bbbp+2) - 0x1.db60c816c15d3p-52;
  return from_zero * Poly(z * 0.08 - 1, -0x1.d53e8d99876e7p-5, 0x1.309ab8e4cba18p-4,
                          -0x1.0c8428b928722p-5, 0x1.e362f8d0b5d5fp-8, -0x1.09a87b4aa43b1p-10,
                          0x1.8adf23edac497p-14, -0x1.a8151133ada50p-18, 0x1.58d6c0f747806p-22,
                          -0x1.b7a52da4eac76p-27, 0x1.c36cda1a843f2p-32, -0x1.7d6d13366c123p-37,
                          0x1.0e2bd36bb93bbp-42, -0x1.44e0887e265bep-48);
}
WEIR_ALWAYS_INLINE double BesselJ1Near(double a) {
  const double z = a * a;
  const double from_zero = (z - 0x1.d5d2b4189822cp+3) - -0x1.c6a0d245172bap-54;
  return a * from_zero *
         Poly(z * 0.08 - 1, -0x1.041c9423ec767p-6, 0x1.acf566aaededbp-7, -0x1.15e32ff822fa4p-8,
              0x1.8bf87b5439004p-11, -0x1.686a2a3c3f229p-14, 0x1.c95360babdc49p-18,
              -0x1.ac92400b19962p-22, 0x1.35278ce236c83p-26, -0x1.623701dae085ap-31,
              0x1.4a45b9d078f76p-36, -0x1.ff29dde95d7a0p-42, 0x1.4df092a4a2f3ep-47,
              -0x1.74adbafc67582p-53);
}
// y0 - 2 / pi log(x) j0, and (y1 - 2 / pi (log(x) j1 - 1 / x)) / x.
WEIR_ALWAYS_INLINE double BesselY0Rest(double x) {
  return Poly(x * x * 0.08 - 1, 0x1.ef5591b23addcp-2, -0x1.bb0a20bc8fa17p-2, -0x1.e1dec550e2063p-2,
              0x1.8dd73e3860a7fp-2, -0x1.c8c5dcec55175p-4, 0x1.20efffecdb202p-6,
              -0x1.d898823c280f9p-10, 0x1.1084623b5261ap-13, -0x1.d4ca0d2405a8bp-18,
              0x1.38e97d038e939p-22, -0x1.4e026d205675cp-27, 0x1.23cf639f57016p-32,
              -0x1.a9b9f9a1c7a16p-38, 0x1.06b223a56d301p-43);
}
WEIR_ALWAYS_INLINE double BesselY1Rest(double x) {
  return Poly(x * x * 0.08 - 1, 0x1.1e34eda905916p-3, 0x1.75172069e41bap-4, -0x1.4e11f71d95a0fp-3,
              0x1.0fc1d2bad4f93p-4, -0x1.b82fcf4b7e778p-7, 0x1.b5777b8432602p-10,
              -0x1.2893671e1f7a1p-13, 0x1.2508be49cef75p-17, -0x1.b9b6abba6cbb1p-22,
              0x1.06a9399305f0fp-26, -0x1.f9eb1c7cd3859p-32, 0x1.935025b52b3d8p-37,
              -0x1.0df75ee167f5fp-42);
}

// What j and y of one order are made of beyond 5.
struct Hankel {
  double p;
  double q;
  double sum;         // sin + cos
  double difference;  // sin - cos
  double amplitude;
};

// The parts that do not depend on the order. REQUIRES: a >= 5.
WEIR_ALWAYS_INLINE Hankel HankelAngle(double a) {
  const Quadrant reduced = ReduceQuadrant(a);
  const SinCos s = SinCosSmall(reduced.r);
  const double sin = SinOf(s, reduced.q), cos = CosOf(s, reduced.q);
  return {0, 0, sin + cos, sin - cos, 0x1.20dd750429b6dp-1 / Sqrt(a)};
}
WEIR_ALWAYS_INLINE Hankel Hankel0(double a) {
  Hankel h = HankelAngle(a);
  const double t = 50 / a / a - 1;
  h.p = Poly(
      t, 0x1.ff4d0e58750e7p-1, -0x1.5bfe8e4499278p-10, 0x1.24e857e031385p-15,
      -0x1.4a2bb234fe024p-19, 0x1.3f88ee6eac547p-22, -0x1.b4ebd44f941ffp-25, 0x1.7bfa1eca82aecp-27,
      -0x1.8a86464f1d21fp-29, 0x1.d5584b0354ca1p-31, -0x1.398ee19c4e7bcp-32, 0x1.cb6c7359d1be4p-34,
      -0x1.37439ae824e6ap-35, 0x1.bae6a5675c692p-37, -0x1.dfd1f31e771d8p-37, 0x1.260e7dc4ea2fdp-37,
      0x1.e0a990fa9a1bep-39, -0x1.8fa29a7dae927p-39, -0x1.3a9a744507aafp-39, 0x1.93b20ae0b5dfep-40);
  h.q = Poly(t, -0x1.fa53af1a412d6p-4, 0x1.5883682266d31p-10, -0x1.09dd7055e3afcp-14,
             0x1.a2b325efb6e64p-18, -0x1.f930577aa1000p-21, 0x1.953c7bae2adbdp-23,
             -0x1.8e8dd89a70191p-25, 0x1.c8e9f593699a3p-27, -0x1.273243006122cp-28,
             0x1.a209f16bc2237p-30, -0x1.3f3f56331d114p-31, 0x1.1c35d9a93db62p-32,
             -0x1.0caab54fdafe4p-33, 0x1.0a1285e7ea39cp-36, 0x1.eb7eba2d2c4dap-38,
             0x1.adf297aa682ddp-35, -0x1.4789894ecc9fbp-35, -0x1.7f9c06f4cb360p-36,
             0x1.3689d7f87863ap-36, 0x1.2d37e798f0449p-37, -0x1.a8775ea3a7f33p-38) /
        a;
  return h;
}
WEIR_ALWAYS_INLINE Hankel Hankel1(double a) {
  Hankel h = HankelAngle(a);
  const double t = 50 / a / a - 1;
  h.p = Poly(
      t, 0x1.00961eaac1aa9p+0, 0x1.25cb0665de446p-9, -0x1.800dd41111785p-15, 0x1.8fc8a4519a43fp-19,
      -0x1.743c6fcaaf5fep-22, 0x1.f1801f6b891c9p-25, -0x1.aa2bd5b834ecfp-27, 0x1.b5bcbd267aaeep-29,
      -0x1.0244b906bbbf8p-30, 0x1.56cc7f3d83cb7p-32, -0x1.f383b1bd7ff0bp-34, 0x1.5239f745c86f1p-35,
      -0x1.e164c1e780321p-37, 0x1.fffd18a7540a0p-37, -0x1.38649be0a4a39p-37, -0x1.f957a8b0aa642p-39,
      0x1.a48afa3875cfdp-39, 0x1.4d57047483f35p-39, -0x1.aaf1d00d97e24p-40);
  h.q = Poly(t, 0x1.7e0025755b90ep-2, -0x1.e8dbf08d12888p-10, 0x1.4b4523f72885ep-14,
             -0x1.ee9665ed7598cp-18, 0x1.21e1275afe127p-20, -0x1.c8b310837efdcp-23,
             0x1.bb9af0829fb1dp-25, -0x1.f7e89b954ef67p-27, 0x1.42cf25e6a1dc3p-28,
             -0x1.c74936eff1ef2p-30, 0x1.67d0fa95a01c6p-31, -0x1.325b58b594212p-32,
             0x1.482fa52c07dc7p-34, -0x1.29a4c978bc127p-36, 0x1.3ebffcea5681bp-34,
             -0x1.c604bc5b8da36p-35, -0x1.f0c8a96b56a95p-36, 0x1.9337a594c6006p-36,
             0x1.d0a65cb3a03bbp-37, -0x1.3d86d1792c3aap-37) /
        a;
  return h;
}

WEIR_ALWAYS_INLINE double BesselJ0(double x) {
  const double a = Abs(x);
  const Hankel h = Hankel0(AtLeast(a, 5.0));
  const double far = h.amplitude * (h.p * h.sum - h.q * h.difference);
  return Select(a <= 5, BesselJ0Near(a), Select(a == kInf<double>, 0.0, far));
}
WEIR_ALWAYS_INLINE double BesselJ1(double x) {
  const double a = Abs(x);
  const Hankel h = Hankel1(AtLeast(a, 5.0));
  const double far = h.amplitude * (h.p * h.difference + h.q * h.sum);
  const double y = Select(a <= 5, BesselJ1Near(a), Select(a == kInf<double>, 0.0, far));
  return FlipSign(y, SignOf(x));
}
// -inf at 0, NaN below.
WEIR_ALWAYS_INLINE double BesselY0(double x) {
  const Hankel h = Hankel0(AtLeast(x, 5.0));
  const double far = h.amplitude * (h.p * h.difference + h.q * h.sum);
  const double near = BesselY0Rest(x) + 0x1.45f306dc9c883p-1 * Log(x) * BesselJ0Near(x);
  const double y = Select(x <= 5, near, Select(x == kInf<double>, 0.0, far));
  return Select(x >= 0, y, kNaN<double>);
}
WEIR_ALWAYS_INLINE double BesselY1(double x) {
  const Hankel h = Hankel1(AtLeast(x, 5.0));
  const double far = h.amplitude * (h.q * h.difference - h.p * h.sum);
  const double near =
      x * BesselY1Rest(x) + 0x1.45f306dc9c883p-1 * (Log(x) * BesselJ1Near(x) - 1 / x);
  const double y = Select(x <= 5, near, Select(x == kInf<double>, 0.0, far));
  return Select(x == 0, -kInf<double>, Select(x >= 0, y, kNaN<double>));
}

WEIR_ALWAYS_INLINE float BesselJ0(float x) { return static_cast<float>(BesselJ0(double{x})); }
WEIR_ALWAYS_INLINE float BesselJ1(float x) { return static_cast<float>(BesselJ1(double{x})); }
WEIR_ALWAYS_INLINE float BesselY0(float x) { return static_cast<float>(BesselY0(double{x})); }
WEIR_ALWAYS_INLINE float BesselY1(float x) { return static_cast<float>(BesselY1(double{x})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_BESSEL_H_
