#include "worker/device/cpu/contraction/product.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "worker/device/cpu/kernel.h"

namespace weir::cpu {
namespace {

template <class T>
T MultiplyAdd(Isa isa, T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    if (isa != Isa::kBaseline) return std::fma(a, b, c);
  }
  return a * b + c;
}

template <class T>
std::vector<T> Values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    value = std::is_integral_v<T> ? static_cast<T>(random())
                                  : static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 512;
  }
  return values;
}

// How a matrix of extents (i, j) lies in memory.
enum class Lie { kRows, kColumns, kSpread };

template <class T>
Matrix<T> Place(T* data, int64_t rows, int64_t columns, Lie lie) {
  switch (lie) {
    case Lie::kRows:
      return {data, columns, 1};
    case Lie::kColumns:
      return {data, 1, rows};
    case Lie::kSpread:
      return {data, 2 * columns, 2};
  }
  return {};
}

template <class T>
class ProductTest : public testing::Test {
 public:
  // Compares every element with one chain computed here.
  void Check(Isa isa, int64_t m, int64_t n, int64_t k, Lie a_lie, Lie b_lie, Lie c_lie, bool pack) {
    const TileLoops<T>& loops = TileLoopsFor<T>(isa);
    const std::vector<T> a = Values<T>(2 * m * k, 1), b = Values<T>(2 * k * n, 2);
    std::vector<T> c(2 * m * n, T{77});
    ProductArgs<T> args{.rows = m, .columns = n, .depth = k};
    args.a = Place(a.data(), m, k, a_lie);
    args.b = Place(b.data(), k, n, b_lie);
    args.c = Place(c.data(), m, n, c_lie);
    std::vector<T> packed(PackedElements(k, n, loops.lanes));
    if (pack) {
      PackColumns(loops, k, n, args.b, packed.data());
      args.packed_b = packed.data();
    }
    std::vector<T> scratch(ProductScratch(loops, k, n));
    Product(loops, args, scratch.data());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        T want = 0;
        for (int64_t d = 0; d < k; ++d) {
          want = MultiplyAdd(isa, args.a.data[i * args.a.row + d * args.a.column],
                             args.b.data[d * args.b.row + j * args.b.column], want);
        }
        const T got = args.c.data[i * args.c.row + j * args.c.column];
        ASSERT_EQ(std::memcmp(&got, &want, sizeof(T)), 0)
            << IsaName(isa) << " " << m << "x" << n << "x" << k << " at " << i << "," << j
            << ": got " << got << ", want " << want;
      }
    }
  }
};

using ElementTypes = testing::Types<float, double, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ProductTest, ElementTypes);

TYPED_TEST(ProductTest, EveryElementIsOneChainWhateverTheSizes) {
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 64, 128},    {2, 10, 64},   {3, 16, 0},
                              {7, 33, 5},  {9, 100, 17},    {16, 48, 256}, {17, 65, 300},
                              {100, 3, 7}, {97, 31, 513},   {1, 129, 33},  {0, 4, 3},
                              {4, 0, 3},   {100, 200, 600}, {400, 72, 260}};
  for (Isa isa : SupportedIsas()) {
    for (const auto& [m, n, k] : sizes) {
      for (Lie lie : {Lie::kRows, Lie::kColumns, Lie::kSpread}) {
        this->Check(isa, m, n, k, lie, Lie::kRows, Lie::kRows, false);
        this->Check(isa, m, n, k, Lie::kRows, lie, Lie::kRows, false);
        this->Check(isa, m, n, k, Lie::kRows, Lie::kRows, lie, false);
        this->Check(isa, m, n, k, Lie::kRows, lie, Lie::kRows, true);
      }
    }
  }
}

TEST(ProductEpilogue, BiasThenActivation) {
  for (Isa isa : SupportedIsas()) {
    const TileLoops<float>& loops = TileLoopsFor<float>(isa);
    const float a[] = {1, -1, NAN}, b[] = {1, 2};
    const float row_bias[] = {1, 1, 1};
    std::vector<float> column_bias(loops.lanes);
    column_bias[0] = -0.5f;
    column_bias[1] = -4;
    float c[6];
    ProductArgs<float> args{.rows = 3, .columns = 2, .depth = 1};
    args.a = {a, 1, 1};
    args.b = {b, 2, 1};
    args.c = {c, 2, 1};
    args.row_bias = row_bias;
    args.column_bias = column_bias.data();
    args.activation = Activation::kRelu;
    std::vector<float> scratch(ProductScratch(loops, 1, 2));
    Product(loops, args, scratch.data());
    EXPECT_EQ(c[0], 1.5f);
    EXPECT_EQ(c[1], 0.0f);
    EXPECT_EQ(c[2], 0.0f);
    EXPECT_FALSE(std::signbit(c[2]));
    EXPECT_EQ(c[3], 0.0f);
    EXPECT_TRUE(std::isnan(c[4]) && std::isnan(c[5]));
  }
}

}  // namespace
}  // namespace weir::cpu
