// asin, acos, atan and atan2. Pure functions; usable from any thread.
#ifndef WEIR_COMMON_OPS_SCALAR_INVERSE_TRIG_H_
#define WEIR_COMMON_OPS_SCALAR_INVERSE_TRIG_H_

#include "common/ops/scalar/base.h"

namespace weir::scalar {

// pi / 2 in two parts.
template <Real T>
inline constexpr Pair<T> kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
template <>
inline constexpr Pair<float> kHalfPi<float> = {0x1.921fb6p+0f, -0x1.777a5cp-25f};

// Returns: asin(sqrt(z)) / sqrt(z) - 1 for 0 <= z <= 1/4.
WEIR_ALWAYS_INLINE float AsinSeries(float z) {
  return z *
         Poly(z, 0x1.55555ep-3f, 0x1.332688p-4f, 0x1.70bf2ap-5f, 0x1.b1e3acp-6f, 0x1.3926d2p-5f);
}
WEIR_ALWAYS_INLINE double AsinSeries(double z) {
  return z * Poly(z, 0x1.555555555554ep-3, 0x1.3333333337233p-4, 0x1.6db6db67f6d9fp-5,
                  0x1.f1c71fbd29fb8p-6, 0x1.6e8b264d46888p-6, 0x1.1c5997c356d91p-6,
                  0x1.c86a22cdaff3ep-7, 0x1.856073c14bd94p-7, 0x1.fd1151b570dd7p-8,
                  0x1.087182f11a045p-6, -0x1.6602746b9f34fp-7, 0x1.cfa0dd17fcda8p-6);
}

template <Real T>
WEIR_ALWAYS_INLINE T Asin(T x) {
  const T a = Abs(x);
  const bool outer = a > T{0.5};
  const T z = Select(outer, (T{1} - a) * T{0.5}, a * a);
  const T root = Select(outer, Sqrt(z), a);
  const T series = root * AsinSeries(z);
  const Pair<T> rest = FastTwoSum(kHalfPi<T>.high, T{-2} * root);
  const T from_half_pi = rest.high - (T{2} * series - (kHalfPi<T>.low + rest.low));
  const T y = Select(outer, from_half_pi, root + series);
  return FlipSign(y, SignOf(x));
}

template <Real T>
WEIR_ALWAYS_INLINE T Acos(T x) {
  const T a = Abs(x);
  const bool outer = a > T{0.5};
  const T z = Select(outer, (T{1} - a) * T{0.5}, a * a);
  const T root = Select(outer, Sqrt(z), x);
  const T series = root * AsinSeries(z);
  const T twice = T{2} * (root + series);
  const T negative = T{2} * kHalfPi<T>.high - (twice - T{2} * kHalfPi<T>.low);
  const T middle = kHalfPi<T>.high - (root - (kHalfPi<T>.low - series));
  return Select(outer, Select(x < 0, negative, twice), middle);
}

// Returns: atan(t) / t - 1 for t^2 = z, |t| <= 1/2.
WEIR_ALWAYS_INLINE float AtanSeries(float z) {
  return z * Poly(z, -0x1.555556p-2f, 0x1.99998ap-3f, -0x1.248082p-3f, 0x1.c3c88ep-4f,
                  -0x1.551572p-4f, 0x1.651436p-5f);
}
WEIR_ALWAYS_INLINE double AtanSeries(double z) {
  return z * Poly(z, -0x1.5555555555555p-2, 0x1.999999999980ap-3, -0x1.2492492481d4cp-3,
                  0x1.c71c71bd5548ap-4, -0x1.745d15ab2c5p-4, 0x1.3b1387beaedf3p-4,
                  -0x1.110e5048299a1p-4, 0x1.e1a203e4af2dcp-5, -0x1.ad23c9d17ab48p-5,
                  0x1.7aa00b0940fffp-5, -0x1.3696a79df3739p-5, 0x1.96179c413c69bp-6,
                  -0x1.296425a914adcp-7);
}

// Returns: atan(y / x) for x, y >= 0, not both 0 or infinite; neither near the overflow bound.
template <Real T>
WEIR_ALWAYS_INLINE T AtanOfRatio(T y, T x) {
  const bool low = y <= x * T{0.5}, high = y >= x * T{2};
  const T numerator = Select(low, y, Select(high, -x, y - x));
  const T denominator = Select(low, x, Select(high, y, y + x));
  const T t = numerator / denominator;
  const Pair<T> h = kHalfPi<T>;
  const T base = Select(low, T{0}, Select(high, h.high, h.high * T{0.5}));
  const T base_low = Select(low, T{0}, Select(high, h.low, h.low * T{0.5}));
  return base + (t + (t * AtanSeries(t * t) + base_low));
}

template <Real T>
WEIR_ALWAYS_INLINE T Atan(T x) {
  // Beyond 2^60 the result is pi / 2 in both types.
  return FlipSign(AtanOfRatio(AtMost(Abs(x), T{0x1p60}), T{1}), SignOf(x));
}

template <Real T>
WEIR_ALWAYS_INLINE T Atan2(T y, T x) {
  const T ax = Abs(x), ay = Abs(y);
  // Equal infinities act as equal numbers, equal zeros as 0 / 1; large pairs are scaled down.
  const bool large = ax > Layout<T>::kLarge || ay > Layout<T>::kLarge;
  const T scale = Select(large, T{0.125}, T{1});
  const T u = AtMost(ax, std::numeric_limits<T>::max()) * scale;
  const T v = AtMost(ay, std::numeric_limits<T>::max()) * scale;
  const T x_part = Select(ax == 0 && ay == 0, T{1}, Select(ax < kInf<T> && ay == kInf<T>, T{0}, u));
  const T y_part = Select(ay < kInf<T> && ax == kInf<T>, T{0}, v);
  const T angle = AtanOfRatio(y_part, x_part);
  const T turned = T{2} * kHalfPi<T>.high - (angle - T{2} * kHalfPi<T>.low);
  return FlipSign(Select(SignOf(x) != 0, turned, angle), SignOf(y));
}

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_INVERSE_TRIG_H_
