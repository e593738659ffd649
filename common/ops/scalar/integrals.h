// Functions that are integrals: expint, dawsn and spence. Pure functions; usable from any thread.
//
// Power series near 0 (Abramowitz and Stegun 5.1.10, 27.7.2), Chebyshev interpolation of what is
// left after the leading behaviour elsewhere. All compute in double; float results are rounded from
// that.
#ifndef WEIR_COMMON_OPS_SCALAR_INTEGRALS_H_
#define WEIR_COMMON_OPS_SCALAR_INTEGRALS_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

// Returns: `t` in [-1, 1] for 1 / x between 1 / high and 1 / low.
WEIR_ALWAYS_INLINE double InverseBand(double x, double low, double high) {
  return (2 * low * high / x - (low + high)) / (high - low);
}

inline constexpr double kEuler = 0x1.2788cfc6fb619p-1;

// Times x exp(-x), for x >= 6.
WEIR_ALWAYS_INLINE double ExpintFar(double x) {
  const double low = Poly(
      InverseBand(AtMost(x, 12.0), 6, 12), 0x1.2e8d96f4f4181p+0, 0x1.74a603b8ee2c8p-4,
      0x1.4cd5ae74c1543p-7, -0x1.b7890d409e384p-9, -0x1.27254bd88d6c0p-10, 0x1.8743951fde2c3p-12,
      0x1.60d206d802c10p-15, -0x1.7e1c5b870b3e0p-15, 0x1.349686fa0b53ap-17, 0x1.80c258fe13206p-20,
      -0x1.83f32da3a6b79p-20, 0x1.c7d56a1a55c02p-22, -0x1.fdda580a4e696p-26, -0x1.0683eaf4fd924p-25,
      0x1.21d7633c80aacp-26, -0x1.4731fe426bc83p-28, 0x1.28b796a1b12a6p-31, 0x1.32d420eb6a5c1p-32,
      -0x1.c3ad9f8642d2dp-33, 0x1.e1cefd0b22678p-35, -0x1.01214ac1c38c9p-38);
  const double middle = Poly(
      InverseBand(AtMost(AtLeast(x, 12.0), 24.0), 12, 24), 0x1.1285334ccb79ep+0,
      0x1.d12acaa903032p-6, 0x1.fca3996086626p-10, 0x1.197165f91f279p-12, 0x1.4c49757fa8778p-15,
      -0x1.688f4f488e8b8p-18, -0x1.5a4b425c249d2p-18, -0x1.e43529fe77841p-23, 0x1.084bc51ee544dp-21,
      0x1.152758f84add1p-28, -0x1.aa58174f779b8p-25, 0x1.e95ab3a70a356p-28, 0x1.f8d00c1e34552p-29,
      -0x1.b542699c0ae32p-30, 0x1.246af7222e12ep-35, 0x1.6f59f08587351p-33, -0x1.c2061de7125dfp-35,
      -0x1.b937b6d6a696dp-38, 0x1.69d022a8ae3e7p-38);
  const double high = Poly(
      48 / AtLeast(x, 24.0) - 1, 0x1.05921c068eee1p+0, 0x1.74c94d0f6d577p-6, 0x1.16dc5093e7212p-10,
      0x1.49d4cf8bfaa77p-14, 0x1.138c435b2cf2ep-17, 0x1.32d3b23a9750cp-20, 0x1.b8e859d9d1739p-23,
      0x1.9258c4cdc5b5bp-25, 0x1.d203d731b51e4p-27, 0x1.5c2ce60a398ebp-28, 0x1.554dc123e75dap-29,
      0x1.aa18d0f425de1p-30, 0x1.0c2d52da6d5f3p-30, 0x1.299b4ddfa0b56p-33, -0x1.ac0a18bfcaa10p-31,
      -0x1.cc1e5d5785773p-31, -0x1.1eb3ea20bac49p-37, 0x1.02ef747fc6893p-31, 0x1.60644ac3590c0p-33,
      -0x1.297314c9edb36p-33, -0x1.38266fd979703p-34, 0x1.34bd18a1c9537p-36, 0x1.93202bb7fc129p-37);
  return Select(x < 12, low, Select(x < 24, middle, high));
}

// The integral of exp(-t) / t from a to infinity times a exp(a), for a >= 1.
WEIR_ALWAYS_INLINE double ExpintTail(double a) {
  const double low = Poly(
      InverseBand(AtMost(a, 3.0), 1, 3), 0x1.5842d8e476b5ap-1, -0x1.729c78eca3185p-4,
      0x1.22b4bc970317bp-6, -0x1.0f6deec2047b5p-8, 0x1.197500f388fbep-10, -0x1.398ba193151bap-12,
      0x1.703fc8b8c68c8p-14, -0x1.c2973956c3a79p-16, 0x1.1ce84765d7b37p-17, -0x1.723c7a0d1a65fp-19,
      0x1.ec4d1c6f92605p-21, -0x1.4dcd045e7c30fp-22, 0x1.cc812e05ea5b9p-24, -0x1.42f02b109abf0p-25,
      0x1.cabc6717ea591p-27, -0x1.438aac0729b58p-28, 0x1.d304d085e0277p-30, -0x1.8c39d5609b33ep-31,
      0x1.2e048c6416a4ap-32, -0x1.2af35ffcf5f73p-35, 0x1.4aa96f65b12f8p-37, -0x1.1043575439f92p-35,
      0x1.b4e760cc7f96ap-37);
  const double high = Poly(
      6 / AtLeast(a, 3.0) - 1, 0x1.be431cb8b9565p-1, -0x1.9eae48688ae02p-4, 0x1.440f4bce2e6ecp-6,
      -0x1.499d5374dfea7p-8, 0x1.8c45af44d3a9dp-10, -0x1.0c199f1767fe6p-11, 0x1.8ca725a3ad8e8p-13,
      -0x1.3adbada228e72p-14, 0x1.08b82f4f0ff55p-15, -0x1.d308058d6de95p-17, 0x1.ad36df5c761aap-18,
      -0x1.98b2c35ba20aap-19, 0x1.9082afe42f5bdp-20, -0x1.92e905d7d90eap-21, 0x1.b101e084b229ep-22,
      -0x1.de7e0d841100bp-23, 0x1.24dbe7459798dp-24, -0x1.7f89de96d1c6cp-27, 0x1.24e9adec3547bp-23,
      -0x1.167d7596dde84p-23, -0x1.6151a2f0ec866p-23, 0x1.703f7f55b695dp-23, 0x1.da9da55690422p-23,
      -0x1.c3d4595db4489p-23, -0x1.92b52428e9500p-23, 0x1.6ff473f5bea63p-23, 0x1.dc13d7791ab7ep-24,
      -0x1.9dee0f6a4036ap-24, -0x1.4f0294248e898p-25, 0x1.17b0c9bdd3644p-25, 0x1.c84654d31744fp-28,
      -0x1.6b643b7c47e7ep-28);
  return Select(a < 3, low, high);
}

// Principal value of the integral of exp(t) / t from -inf to x; -inf at 0.
WEIR_ALWAYS_INLINE double Expint(double x) {
  const double a = Abs(x), small = AtMost(a, 1.0), large = AtLeast(a, 1.0);
  const double log = kEuler + Log(a);
  const double series = Poly(
      AtMost(a, 6.0), 0x1p+0, 0x1p-2, 0x1.c71c71c71c71cp-5, 0x1.5555555555555p-7,
      0x1.b4e81b4e81b4fp-10, 0x1.e573ac901e574p-13, 0x1.db8b6f9266dd5p-16, 0x1.a01a01a01a01ap-19,
      0x1.48c5892f7cd83p-22, 0x1.d96e5f25a9894p-26, 0x1.390327a26bdbdp-29, 0x1.7e9213ff67620p-33,
      0x1.b2a2edd1e100cp-37, 0x1.cd3f30a008e6ap-41, 0x1.cb3264bf2e688p-45, 0x1.ae7f3e733b81fp-49,
      0x1.7d570699739afp-53, 0x1.402321fc15331p-57, 0x1.feccf9f2a88ffp-62, 0x1.843561cce681ep-66,
      0x1.19b179783c732p-70, 0x1.871c7e568af04p-75, 0x1.043f7b43bfa81p-79, 0x1.4c8a010f74e50p-84,
      0x1.989fbfc45992ap-89, 0x1.e394271bdea47p-94, 0x1.13f39eebbbcd2p-98, 0x1.301c274cee4fdp-103,
      0x1.43ff8e04a5032p-108, 0x1.4e14055a1f565p-113, 0x1.4dbb06adacc1dp-118,
      0x1.434d2e783f5bcp-123, 0x1.30011c6a7cedbp-128, 0x1.15b4d5c00ee91p-133,
      0x1.ed4c16c0c85b5p-139, 0x1.aa4e65d6027b3p-144);
  const double far = AtMost(AtLeast(x, 6.0), 1500.0), half = Exp(far * 0.5);
  const double positive = Select(x <= 6, log + a * series, half * (ExpintFar(far) / far) * half);
  const double alternating =
      small * Poly(small, 0x1p+0, -0x1p-2, 0x1.c71c71c71c71cp-5, -0x1.5555555555555p-7,
                   0x1.b4e81b4e81b4fp-10, -0x1.e573ac901e574p-13, 0x1.db8b6f9266dd5p-16,
                   -0x1.a01a01a01a01ap-19, 0x1.48c5892f7cd83p-22, -0x1.d96e5f25a9894p-26,
                   0x1.390327a26bdbdp-29, -0x1.7e9213ff67620p-33, 0x1.b2a2edd1e100cp-37,
                   -0x1.cd3f30a008e6ap-41, 0x1.cb3264bf2e688p-45, -0x1.ae7f3e733b81fp-49,
                   0x1.7d570699739afp-53, -0x1.402321fc15331p-57, 0x1.feccf9f2a88ffp-62,
                   -0x1.843561cce681ep-66);
  const double tail = Exp(-large) / large * ExpintTail(large);
  const double negative = Select(a <= 1, log - alternating, -tail);
  return Select(x < 0, negative, positive);
}

// exp(-x^2) times the integral of exp(t^2) from 0 to x.
WEIR_ALWAYS_INLINE double Dawsn(double x) {
  const double a = Abs(x), far = AtLeast(a, 6.0);
  const double first =
      a * Poly(a * a * (8.0 / 9) - 1, 0x1.00baaa3590741p-1, -0x1.425ea92e15792p-2,
               0x1.0c947d2073592p-3, -0x1.4b070be7ed17dp-5, 0x1.426463fea138ap-7,
               -0x1.0310ca508105fp-9, 0x1.620f4dcf9b5b4p-12, -0x1.a4b417654714ap-15,
               0x1.ba078d3a20f6ap-18, -0x1.a02e1b9f6c058p-21, 0x1.62eb48c837e14p-24,
               -0x1.1496532032153p-27, 0x1.8cc60a3814e10p-31, -0x1.07b52c9a82951p-34,
               0x1.4d0aee15402b6p-38, -0x1.816931d48814ap-42);
  const double second = Poly(
      (a - 2.25) / 0.75, 0x1.06b6292245a5cp-2, -0x1.da9b2b4eac3d7p-4, 0x1.a397f90f4be7ep-5,
      -0x1.d05a5ed8d0d7fp-7, -0x1.40fae0a91ac8cp-9, 0x1.3d4a234dd6828p-8, -0x1.28c45d977e00ep-9,
      0x1.48c90e374e3ffp-12, 0x1.86502e671ce2fp-13, -0x1.c920a9ede69aep-14, 0x1.09d728e637d29p-16,
      0x1.a5c4aa6508c1bp-18, -0x1.b4a09dee8a3dcp-19, 0x1.42dac8e2d59c7p-22, 0x1.95c9e6e97b7f1p-23,
      -0x1.17765216c33d1p-24, 0x1.b5fa6d4e84423p-32, 0x1.22833eb5b716ap-28, -0x1.b0db922c3d8f8p-31,
      -0x1.e90e08cc8873bp-34, 0x1.bae32353a6ceep-35, -0x1.e8f33ef2b0fc1p-40);
  const double third = Poly(
      (a - 4.5) / 1.5, 0x1.d34e941c532acp-4, -0x1.49499efcc5821p-5, 0x1.df3d5aaafbb27p-7,
      -0x1.69b4bc2996e18p-8, 0x1.1cefde1751b88p-9, -0x1.d9094703ef61cp-11, 0x1.a30a8b02c6092p-12,
      -0x1.8fec3cea7da1bp-13, 0x1.96e5956d427b5p-14, -0x1.a4d849b1bd5c0p-15, 0x1.93ddda45e5375p-16,
      -0x1.2ea70d27c11c6p-17, 0x1.2cb24f990b16cp-20, 0x1.06e88ded9f3a3p-19, -0x1.2de28e4e31fa5p-19,
      0x1.81be74f88dccep-20, -0x1.36f0b41cfd9f3p-21, 0x1.52ce625ce0ea1p-24, 0x1.6a9ddec173136p-24,
      -0x1.4e3f7da92e258p-24, 0x1.2c4b09eb7a92cp-25, -0x1.c157aab0fd2dep-28, -0x1.27767e6168418p-28,
      0x1.2249cebf2cf54p-28, -0x1.052a1d6a7e785p-30, -0x1.aa02d401ad4e0p-32, 0x1.77288b1130911p-33);
  const double last = Poly(72 / far / far - 1, 0x1.01d0f05baa681p-1, 0x1.db219a1811970p-9,
                           0x1.52727b392426fp-14, 0x1.9ec66096f0715p-19, 0x1.6fecd37140ae3p-23,
                           0x1.b2b743d4f5a71p-27, 0x1.45e33bb41ed19p-30, 0x1.2c836fb19f3a7p-33,
                           0x1.4e3d754f86b82p-36, 0x1.b9d3bff85dfe3p-39, 0x1.421bfcbaa222fp-41,
                           0x1.13b88714cf8bap-43, 0x1.0936aa46478a3p-44, 0x1.7a8e31e034fa7p-46) /
                      far;
  const double middle = Select(a < 3, second, Select(a < 6, third, last));
  return FlipSign(Select(a < 1.5, first, middle), SignOf(x));
}

// The dilogarithm of z for u = -log(1 - z), |u| <= log(2): its series in Bernoulli numbers.
WEIR_ALWAYS_INLINE double DilogarithmOf(double u) {
  const double z = u * u;
  return u + (u * z *
                  Poly(z, 0x1.c71c71c71c71cp-6, -0x1.23456789abcdfp-12, 0x1.3d079fb6ef3e3p-18,
                       -0x1.8a86a49f629d1p-24, 0x1.04d7f65caf373p-29, -0x1.658a4b8f16a75p-35,
                       0x1.f63f1e311ac24p-41, -0x1.6731c59dbd7dep-46, 0x1.04805fdce7819p-51,
                       -0x1.7e168b15d7793p-57) -
              z * 0.25);
}

// The integral of log(t) / (1 - t) from 1 to x, the dilogarithm of 1 - x; NaN below 0.
WEIR_ALWAYS_INLINE double Spence(double x) {
  constexpr double kSixth = 0x1.a51a6625307d3p+0;  // pi^2 / 6
  const bool low = x<0.5, high = x> 2;
  const double log = Log(x), log1m = Log1p(-Select(low, x, 0.0));
  const double large = Log(Select(high, x - 1, 1.0));
  const double beyond = Log1p(1 / Select(high, x - 1, 1.0));
  const double d = DilogarithmOf(Select(low, -log1m, Select(high, -beyond, 0 - log)));
  const double below = kSixth - Select(x == 0, 0.0, log * log1m) - d;
  const double above = -kSixth - 0.5 * large * large - d;
  return Select(low, below, Select(high, above, d));
}

WEIR_ALWAYS_INLINE float Expint(float x) { return static_cast<float>(Expint(double{x})); }
WEIR_ALWAYS_INLINE float Dawsn(float x) { return static_cast<float>(Dawsn(double{x})); }
WEIR_ALWAYS_INLINE float Spence(float x) { return static_cast<float>(Spence(double{x})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_INTEGRALS_H_
