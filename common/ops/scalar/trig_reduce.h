// Argument reduction modulo pi / 2 for the trigonometric functions. Pure functions; usable from any
// thread.
#ifndef WEIR_COMMON_OPS_SCALAR_TRIG_REDUCE_H_
#define WEIR_COMMON_OPS_SCALAR_TRIG_REDUCE_H_

#include <array>

#include "common/ops/scalar/base.h"

namespace weir::scalar {

// x = q pi / 2 + r with |r| <= pi / 4 (a little more after rounding); only q mod 4 is kept.
struct Quadrant {
  Pair<double> r;
  uint64_t q;
};

// 2 / pi in pieces of 26 bits.
inline constexpr uint32_t kTwoOverPiPieces[46] = {
    0x28be60d, 0x2e4e441, 0x14a7f09, 0x357d1f5, 0x0d37703, 0x1b62959, 0x24f10e4, 0x041fe51,
    0x18eaf7a, 0x3bc561b, 0x1c91b8e, 0x2424dd2, 0x3801924, 0x2eea09d, 0x064873f, 0x21deb1c,
    0x2c4a69c, 0x3ee8823, 0x17d4bae, 0x34484e9, 0x271c09a, 0x345f7e4, 0x04e6475, 0x2398353,
    0x0e7d272, 0x045f8bb, 0x37e4a0e, 0x31ff897, 0x3ff7816, 0x180fef2, 0x3c462d6, 0x20a6d1f,
    0x1b4d9fb, 0x0f27cb0, 0x26dd3d1, 0x23f669e, 0x17fa8b5, 0x3527bac, 0x1faf97c, 0x17b3d07,
    0x0e7de29, 0x1292ea6, 0x2fed7ec, 0x11f8d5d, 0x021580c, 0x3046fc7};

inline constexpr int kPieces = 6;    // pieces that one reduction needs
inline constexpr int kWindows = 40;  // positions from which it can take them

// [i][j]: piece i + j, scaled by 2^-26(i + 1).
inline constexpr auto kTwoOverPi = [] {
  std::array<std::array<double, kWindows>, kPieces> table{};
  double scale = 1;
  for (int i = 0; i < kPieces; ++i) {
    scale *= 0x1p-26;
    for (int j = 0; j < kWindows; ++j) table[i][j] = kTwoOverPiPieces[i + j] * scale;
  }
  return table;
}();

// Returns: t modulo 4, in [-2, 2]; exact.
WEIR_ALWAYS_INLINE double ModuloTurn(double t) { return t - RoundHalfEven(t * 0.25) * 4; }

// Below this bound ReduceNear has a relative error near 2^-100, above it ReduceFar an absolute one
// of 2^-52.
inline constexpr double kFar = 0x1p20;

WEIR_ALWAYS_INLINE Quadrant ReduceNear(double x) {
  const Rounded<double> q = RoundSmall(x * 0x1.45f306dc9c883p-1);
  const double k = q.value;  // at most 21 bits, so its products with parts of 33 bits are exact
  const Pair<double> a = TwoSum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
  const Pair<double> b = TwoSum(a.high, -(k * 0x1.3198a2ep-69));
  return {FastTwoSum(b.high, b.low + (a.low - k * 0x1.b839a252049c1p-104)), q.bits};
}

// Multiplies by the window of 2 / pi whose product is not a multiple of 4, piece by piece, each
// product exact.
WEIR_ALWAYS_INLINE Quadrant ReduceFar(double x) {
  const uint32_t biased = static_cast<uint32_t>(ToBits(Abs(x)) >> 52);
  const uint32_t above = biased < 1023u + 54u ? 0u : biased - (1023u + 54u);
  const uint32_t steps = (above * 2521u) >> 16;  // above / 26
  const uint32_t window = steps < kWindows ? steps : kWindows - 1;
  const double scaled = x * PowerOfTwo<double>(uint64_t{0} - uint64_t{window} * 26);
  const double x1 = UpperHalf(scaled), x2 = scaled - x1;
  const double c1 = kTwoOverPi[1][window], c2 = kTwoOverPi[2][window];
  const double c3 = kTwoOverPi[3][window], c4 = kTwoOverPi[4][window];
  const double t0 = ModuloTurn(x1 * kTwoOverPi[0][window]);
  const double t1 = ModuloTurn(x2 * kTwoOverPi[0][window]) + ModuloTurn(x1 * c1);
  const double t2 = ModuloTurn(x2 * c1) + ModuloTurn(x1 * c2);
  const double t3 = ModuloTurn(x2 * c2) + ModuloTurn(x1 * c3);
  const double t4 = (x2 * c3 + x1 * c4) + (x2 * c4 + x1 * kTwoOverPi[5][window]);
  const Rounded<double> q = RoundSmall(t0 + (t1 + (t2 + (t3 + t4))));
  const double turn = ((((t0 - q.value) + t1) + t2) + t3) + t4;
  return {{turn * 0x1.921fb54442d18p+0, 0}, q.bits};
}

WEIR_ALWAYS_INLINE Quadrant ReduceQuadrant(double x) {
  const Quadrant near = ReduceNear(x), far = ReduceFar(x);
  const bool is_far = Abs(x) >= kFar;
  return {{Select(is_far, far.r.high, near.r.high), Select(is_far, 0.0, near.r.low)},
          Select(is_far, far.q, near.q)};
}

// The same for arguments that are floats: pieces of 28 bits, four of them, from one of four
// positions. Absolute error of the quarter turn below 2^-54, which is a relative one below 2^-25 of
// the worst r.
WEIR_ALWAYS_INLINE Quadrant ReduceFloat(double x) {
  const double a = Abs(x);
  const bool w1 = a >= 0x1p54, w2 = a >= 0x1p82, w3 = a >= 0x1p110;
  constexpr double kC[7] = {0x0.a2f9836p0,    0x0.e4e4415p-28,  0x0.29fc275p-56, 0x0.7d1f534p-84,
                            0x0.ddc0db6p-112, 0x0.295993cp-140, 0x0.439041fp-168};
  const double c0 = Select(w3, kC[3], Select(w2, kC[2], Select(w1, kC[1], kC[0])));
  const double c1 = Select(w3, kC[4], Select(w2, kC[3], Select(w1, kC[2], kC[1])));
  const double c2 = Select(w3, kC[5], Select(w2, kC[4], Select(w1, kC[3], kC[2])));
  const double c3 = Select(w3, kC[6], Select(w2, kC[5], Select(w1, kC[4], kC[3])));
  const double t0 = ModuloTurn(x * c0), t1 = ModuloTurn(x * c1), t2 = x * c2, t3 = x * c3;
  const Rounded<double> q = RoundSmall(t0 + (t1 + t2));
  const double turn = ((t0 - q.value) + t1) + (t2 + t3);
  return {{turn * 0x1.921fb54442d18p+0, 0}, q.bits};
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_TRIG_REDUCE_H_
