// The functions with one right answer: rounding, comparison, integers, conversions.
#include <cmath>
#include <random>
#include <vector>

#include "common/ops/scalar/scalar.h"
#include "gtest/gtest.h"

namespace weir::scalar {
namespace {

template <class T>
bool SameBits(T x, T y) {
  return (x != x && y != y) || ToBits(x) == ToBits(y);
}

template <Real T>
std::vector<T> Values() {
  std::vector<T> out = {0,
                        T(-0.0),
                        T(0.5),
                        T(-0.5),
                        T(1.5),
                        T(2.5),
                        T(-2.5),
                        1,
                        -1,
                        3,
                        -7,
                        T(0.49999997),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::denorm_min(),
                        kInf<T>,
                        -kInf<T>,
                        kNaN<T>,
                        T(8388608.5),
                        T(4503599627370496.5)};
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    out.push_back(FromBits<T>(static_cast<BitsT<T>>(random())));
    out.push_back(static_cast<T>(static_cast<double>(random() % 2000) / 8 - 100));
  }
  return out;
}

template <class T>
class ExactRealTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactRealTest, Reals);

TYPED_TEST(ExactRealTest, RoundsLikeTheLibrary) {
  using T = TypeParam;
  for (T x : Values<T>()) {
    EXPECT_TRUE(SameBits(Floor(x), std::floor(x))) << x;
    EXPECT_TRUE(SameBits(Ceil(x), std::ceil(x))) << x;
    EXPECT_TRUE(SameBits(Trunc(x), std::trunc(x))) << x;
    EXPECT_TRUE(SameBits(RoundHalfEven(x), std::nearbyint(x))) << x;
    EXPECT_TRUE(SameBits(RoundHalfAway(x), std::round(x))) << x;
    EXPECT_EQ(IsFinite(x), std::isfinite(x)) << x;
    EXPECT_EQ(IsInf(x), std::isinf(x)) << x;
    EXPECT_EQ(IsNan(x), std::isnan(x)) << x;
  }
}

TYPED_TEST(ExactRealTest, PairsLikeTheLibrary) {
  using T = TypeParam;
  for (T x : Values<T>()) {
    for (T y : Values<T>()) {
      EXPECT_TRUE(SameBits(NextAfter(x, y), std::nextafter(x, y))) << x << " " << y;
      EXPECT_TRUE(SameBits(Remainder(x, y), std::fmod(x, y))) << x << " " << y;
      EXPECT_TRUE(IsNan(x) || SameBits(CopySign(x, y), std::copysign(x, y))) << x << " " << y;
      const T ordered = x == y ? (SignOf(x) ? y : x) : std::fmax(x, y);
      const T larger = IsNan(x) || IsNan(y) ? kNaN<T> : ordered;
      EXPECT_TRUE(SameBits(Maximum(x, y), larger)) << x << " " << y;
      EXPECT_TRUE(SameBits(Minimum(x, y), Negate(Maximum(Negate(x), Negate(y))))) << x << " " << y;
    }
  }
}

TYPED_TEST(ExactRealTest, FloorDivisionFollowsPython) {
  using T = TypeParam;
  EXPECT_EQ(FloorMod(T(5), T(3)), 2);
  EXPECT_EQ(FloorMod(T(-5), T(3)), 1);
  EXPECT_EQ(FloorMod(T(5), T(-3)), -1);
  EXPECT_EQ(FloorMod(T(-5), T(-3)), -2);
  EXPECT_TRUE(SameBits(FloorMod(T(6), T(-3)), T(-0.0)));
  EXPECT_EQ(FloorMod(T(-1), kInf<T>), kInf<T>);
  EXPECT_TRUE(IsNan(FloorMod(T(1), T(0))));
  EXPECT_EQ(FloorDivide(T(7), T(2)), 3);
  EXPECT_EQ(FloorDivide(T(-7), T(2)), -4);
  EXPECT_EQ(FloorDivide(T(7), T(-2)), -4);
  EXPECT_EQ(FloorDivide(1.0, 0.1), 9);  // 0.1 is a little more than a tenth
  EXPECT_EQ(FloorDivide(T(1), T(0)), kInf<T>);
}

TYPED_TEST(ExactRealTest, SignsAndBounds) {
  using T = TypeParam;
  EXPECT_EQ(Sign(T(3)), 1);
  EXPECT_EQ(Sign(T(-3)), -1);
  EXPECT_TRUE(SameBits(Sign(T(-0.0)), T(-0.0)));
  EXPECT_TRUE(IsNan(Sign(kNaN<T>)));
  EXPECT_EQ(Clamp(T(-1), T(5), T(2)), 2);
  EXPECT_EQ(Clamp(T(-1), T(-5), T(2)), -1);
  EXPECT_TRUE(IsNan(Clamp(T(-1), kNaN<T>, T(2))));
}

// Every pair of a small type against arithmetic in int.
template <class T>
class SmallIntegerTest : public testing::Test {};
using SmallIntegers = testing::Types<int8_t, uint8_t>;
TYPED_TEST_SUITE(SmallIntegerTest, SmallIntegers);

TYPED_TEST(SmallIntegerTest, EveryPair) {
  using T = TypeParam;
  using U = uint8_t;
  constexpr int kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
  for (int x = kMin; x <= kMax; ++x) {
    for (int y = kMin; y <= kMax; ++y) {
      const T a = static_cast<T>(x), b = static_cast<T>(y);
      EXPECT_EQ(Add(a, b), static_cast<T>(x + y));
      EXPECT_EQ(Subtract(a, b), static_cast<T>(x - y));
      EXPECT_EQ(Multiply(a, b), static_cast<T>(x * y));
      EXPECT_EQ(Divide(a, b), static_cast<T>(y == 0 ? -1 : x / y)) << x << " " << y;
      EXPECT_EQ(Remainder(a, b), static_cast<T>(y == 0 ? x : x % y)) << x << " " << y;
      const int down = y != 0 && x % y != 0 && (x < 0) != (y < 0);
      EXPECT_EQ(FloorDivide(a, b), static_cast<T>(y == 0 ? -1 : x / y - down)) << x << " " << y;
      EXPECT_EQ(FloorMod(a, b), static_cast<T>(y == 0 ? x : x % y + down * y)) << x << " " << y;
      const bool out = y < 0 || y > 7;
      EXPECT_EQ(ShiftLeft(a, b), static_cast<T>(out ? 0 : static_cast<U>(x) << y));
      EXPECT_EQ(ShiftRightLogical(a, b), static_cast<T>(out ? 0 : static_cast<U>(x) >> y));
      EXPECT_EQ(ShiftRightArithmetic(a, b),
                static_cast<T>(static_cast<int8_t>(x) >> (out ? 7 : y)));
      EXPECT_EQ(Maximum(a, b), std::max(a, b));
      EXPECT_EQ(Minimum(a, b), std::min(a, b));
    }
    const T a = static_cast<T>(x);
    EXPECT_EQ(Popcnt(a), std::popcount(static_cast<U>(x)));
    EXPECT_EQ(CountLeadingZeros(a), std::countl_zero(static_cast<U>(x)));
    EXPECT_EQ(Negate(a), static_cast<T>(-x));
    U power = 1;
    for (int y = 0; y <= kMax; ++y, power *= static_cast<U>(x)) {
      EXPECT_EQ(Pow(a, static_cast<T>(y)), static_cast<T>(power)) << x << "^" << y;
    }
  }
}

template <class T>
class WideIntegerTest : public testing::Test {};
using WideIntegers = testing::Types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(WideIntegerTest, WideIntegers);

TYPED_TEST(WideIntegerTest, CornersAndRandomPairs) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr T kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
  std::vector<T> values = {0, 1, 2, static_cast<T>(-1), 3, kMin, kMax, static_cast<T>(kMax - 1)};
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  for (T x : values) {
    for (T y : values) {
      EXPECT_EQ(Multiply(x, y),
                static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y)));
      EXPECT_EQ(Add(x, y), static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y)));
      T quotient = static_cast<T>(-1), rest = x;
      if (y != 0 && std::is_signed_v<T> && x == kMin && y == static_cast<T>(-1)) {
        quotient = kMin;
        rest = 0;
      } else if (y != 0) {
        quotient = static_cast<T>(x / y);
        rest = static_cast<T>(x % y);
      }
      EXPECT_EQ(Divide(x, y), quotient) << +x << " " << +y;
      EXPECT_EQ(Remainder(x, y), rest) << +x << " " << +y;
    }
    EXPECT_EQ(Popcnt(x), static_cast<T>(std::popcount(static_cast<U>(x))));
    EXPECT_EQ(CountLeadingZeros(x), static_cast<T>(std::countl_zero(static_cast<U>(x))));
    EXPECT_EQ(ShiftLeft(x, static_cast<T>(8 * sizeof(T))), 0);
    EXPECT_EQ(ShiftLeft(x, T{3}), static_cast<T>(static_cast<U>(x) << 3));
  }
  EXPECT_EQ(Pow(T{3}, T{7}), static_cast<T>(2187));
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(Pow(T{-1}, T{-3}), -1);
    EXPECT_EQ(Pow(T{2}, T{-1}), 0);
    EXPECT_EQ(Pow(T{0}, T{-1}), 0);
    EXPECT_EQ(Abs(kMin), kMin);
  }
}

TEST(ConvertTest, RealToIntegerSaturates) {
  EXPECT_EQ(Convert<int32_t>(kNaN<float>), 0);
  EXPECT_EQ(Convert<int32_t>(kInf<double>), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Convert<int32_t>(-1e30f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Convert<int32_t>(2147483648.0f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Convert<int32_t>(2147483647.0), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Convert<int32_t>(-2.9f), -2);
  EXPECT_EQ(Convert<int8_t>(127.9), 127);
  EXPECT_EQ(Convert<int8_t>(-128.9), -128);
  EXPECT_EQ(Convert<uint8_t>(-0.5), 0);
  EXPECT_EQ(Convert<uint8_t>(-3.0), 0);
  EXPECT_EQ(Convert<uint64_t>(1.8446744073709550e19), 18446744073709549568u);
  EXPECT_EQ(Convert<uint64_t>(2e19), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Convert<int64_t>(-9.3e18), std::numeric_limits<int64_t>::min());
}

TEST(ConvertTest, OtherKinds) {
  EXPECT_EQ(Convert<int8_t>(300), 44);
  EXPECT_EQ(Convert<uint64_t>(int8_t{-1}), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(Convert<bool>(kNaN<float>));
  EXPECT_FALSE(Convert<bool>(-0.0));
  EXPECT_TRUE(Convert<bool>(int64_t{1} << 40));
  EXPECT_EQ(Convert<double>(true), 1.0);
  EXPECT_EQ(Convert<float>(Convert<Half>(65536.0)), kInf<float>);
  // 1 + 2^-11 + 2^-40 is above the tie that its float is.
  EXPECT_EQ(Convert<Half>(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(Convert<Half>(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(Convert<Half>(1 + 0x1p-11 - 0x1p-40).bits, 0x3c00);
  EXPECT_EQ(Convert<BFloat16>(-1 - 0x1p-8 - 0x1p-40).bits, 0xbf81);
  EXPECT_EQ(Convert<int32_t>(Half(-3.7f)), -3);
}

TEST(ComplexTest, ProductsQuotientsLengths) {
  using C = std::complex<double>;
  EXPECT_EQ(Multiply(C(1, 2), C(3, -1)), C(5, 5));
  EXPECT_LE(Abs(Divide(C(5, 5), C(3, -1)) - C(1, 2)), 1e-15);
  EXPECT_EQ(Divide(C(1e300, 1e300), C(1e300, 1e300)), C(1, 0));
  EXPECT_EQ(Divide(C(2, 4), C(0, 2)), C(2, -1));
  EXPECT_EQ(Abs(C(3, -4)), 5);
}

}  // namespace
}  // namespace weir::scalar
