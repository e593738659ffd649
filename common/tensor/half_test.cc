#include "common/tensor/half.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Rounds to a float with `precision` bits of significand and exponents down to `min_exponent`; to
// infinity from `overflow` on.
float RoundTo(float value, int precision, int min_exponent, double overflow) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const double unit = std::ldexp(1.0, exponent - (precision - 1));
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::abs(rounded) >= overflow) return std::copysign(kInfinity, value);
  return std::copysign(static_cast<float>(rounded), value);
}

void ExpectSame(float actual, float expected, float source) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << source;
  } else {
    ASSERT_EQ(std::bit_cast<uint32_t>(actual), std::bit_cast<uint32_t>(expected)) << source;
  }
}

TEST(HalfTest, EveryBitPatternSurvivesFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half = Half::FromBits(static_cast<uint16_t>(bits));
    const float value = static_cast<float>(half);
    if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
      continue;
    }
    const int exponent = (bits >> 10) & 0x1f;
    const double fraction = bits & 0x3ff;
    double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    if (exponent == 31) expected = kInfinity;
    ASSERT_EQ(value, static_cast<float>((bits & 0x8000) != 0 ? -expected : expected)) << bits;
    ASSERT_EQ(Half(value).bits, bits);
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 400000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ExpectSame(static_cast<float>(Half(value)), RoundTo(value, 11, -14, 65520), value);
  }
  for (uint32_t bits = 0; bits + 1 < 0x7c00; ++bits) {
    const float low = static_cast<float>(Half::FromBits(static_cast<uint16_t>(bits)));
    const float high = static_cast<float>(Half::FromBits(static_cast<uint16_t>(bits + 1)));
    const float middle = (low + high) / 2;
    ASSERT_EQ(Half(middle).bits, bits + (bits & 1));
    ASSERT_EQ(Half(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(Half(std::nextafter(-middle, -kInfinity)).bits, 0x8000 | (bits + 1));
  }
}

TEST(HalfTest, OverflowsToInfinity) {
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Half(kInfinity).bits, 0x7c00);
}

TEST(BFloat16Test, EveryBitPatternSurvivesFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = static_cast<float>(BFloat16::FromBits(static_cast<uint16_t>(bits)));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(BFloat16(value)))) << bits;
    } else {
      ASSERT_EQ(BFloat16(value).bits, bits);
    }
  }
}

TEST(BFloat16Test, RoundsToNearestEven) {
  std::mt19937 random(2);
  const double overflow = std::ldexp(1.0, 128);
  for (int i = 0; i < 400000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ExpectSame(static_cast<float>(BFloat16(value)), RoundTo(value, 8, -126, overflow), value);
  }
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace weir
