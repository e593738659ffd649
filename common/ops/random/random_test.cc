#include "common/ops/random/random.h"

#include <cmath>
#include <set>

#include "common/ops/op_testing.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using random::Block;
using random::Philox;

// The vectors that the authors of the generator publish with Random123.
TEST(RandomTest, PhiloxKnownAnswers) {
  const auto text = [](Block b) {
    char out[40];
    std::snprintf(out, sizeof(out), "%08x %08x %08x %08x", b.word[0], b.word[1], b.word[2],
                  b.word[3]);
    return std::string(out);
  };
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(text(Philox(0, 0, 0)), "6627e8d5 e169c58d bc57ac4c 9b00dbd8");
  EXPECT_EQ(text(Philox(ones, ones, ones)), "408f276d 41c83b0e a20bc7c6 6d5451fd");
  EXPECT_EQ(text(Philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e)),
            "d16cfe09 94fdcceb 5001e420 24126ea1");
}

Tensor Draw(std::string op, DType dtype, Tensor key, std::vector<Dim> shape, int64_t seed = 1,
            int64_t draw = 0) {
  const Attrs attrs = {{"seed", seed}, {"draw", draw}, {"shape", shape}, {"dtype", dtype}};
  return EvalOpAll(std::move(op), {std::move(key)}, attrs).value()[0];
}

Tensor Key(uint64_t key) { return Tensor::Scalar<uint64_t>(key); }

TEST(RandomTest, RowsDependOnTheirKeyOnly) {
  for (const char* op : {"rng_uniform", "rng_normal"}) {
    for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      const Tensor keys = Tensor::Of<uint64_t>({3}, {5, 6, 5});
      const Tensor rows = Draw(op, dtype, keys, {7});
      EXPECT_TRUE(rows.Row(0).BitEquals(Draw(op, dtype, Key(5), {7})));
      EXPECT_TRUE(rows.Row(1).BitEquals(Draw(op, dtype, Key(6), {7})));
      EXPECT_TRUE(rows.Row(2).BitEquals(rows.Row(0)));
      EXPECT_FALSE(rows.Row(1).BitEquals(rows.Row(0)));
    }
  }
}

TEST(RandomTest, SeedAndDrawTellNumbersApart) {
  std::set<uint64_t> seen;
  for (int64_t seed : {0, 1, -1}) {
    for (int64_t draw : {0, 1, 2}) {
      for (uint64_t key : {0, 1}) {
        const Tensor bits = Draw("rng_bits", DType::kU64, Key(key), {5}, seed, draw);
        for (int i = 0; i < 5; ++i) seen.insert(bits.At<uint64_t>({i}));
      }
    }
  }
  EXPECT_EQ(seen.size(), 3u * 3 * 2 * 5);
}

TEST(RandomTest, ShorterDrawsArePrefixes) {
  const Tensor longer = Draw("rng_bits", DType::kU32, Key(3), {9});
  EXPECT_TRUE(longer.Rows(0, 6).Contiguous().BitEquals(Draw("rng_bits", DType::kU32, Key(3), {6})));
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double lowest = 1e9;
  double highest = -1e9;
};

template <class T>
Moments MomentsOf(const Tensor& t) {
  Moments m;
  const int64_t n = t.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(t.data<T>()[i]);
    m.mean += x / static_cast<double>(n);
    m.variance += x * x / static_cast<double>(n);
    m.lowest = std::min(m.lowest, x);
    m.highest = std::max(m.highest, x);
  }
  m.variance -= m.mean * m.mean;
  return m;
}

template <class T>
void ExpectDistributions() {
  const int64_t n = 100000;
  const Moments uniform = MomentsOf<T>(Draw("rng_uniform", kDTypeOf<T>, Key(1), {n}));
  EXPECT_GE(uniform.lowest, 0);
  EXPECT_LT(uniform.highest, 1);
  EXPECT_NEAR(uniform.mean, 0.5, 0.005);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.002);
  const Moments normal = MomentsOf<T>(Draw("rng_normal", kDTypeOf<T>, Key(2), {n}));
  EXPECT_NEAR(normal.mean, 0, 0.015);
  EXPECT_NEAR(normal.variance, 1, 0.02);
  EXPECT_GT(normal.highest, 3.8);
  EXPECT_LT(normal.highest, 5.5);
}

TEST(RandomTest, Distributions) {
  ExpectDistributions<float>();
  ExpectDistributions<double>();
}

TEST(RandomTest, FoldedKeysDiffer) {
  const Tensor keys = Tensor::Of<uint64_t>({4}, {1, 1, 1, 2});
  const Tensor data = Tensor::Of<int64_t>({4}, {0, 1, -1, 0});
  const Tensor folded = EvalOpAll("rng_fold", {keys, data}, {}).value()[0];
  std::set<uint64_t> seen = {1, 2};
  for (int i = 0; i < 4; ++i) seen.insert(folded.At<uint64_t>({i}));
  EXPECT_EQ(seen.size(), 6u);
}

TEST(RandomTest, TypeRules) {
  const Attrs attrs = {
      {"seed", 1}, {"draw", 0}, {"shape", std::vector<Dim>{2, 3}}, {"dtype", DType::kF32}};
  EXPECT_EQ(InferOp("rng_uniform", {"u64[]"}, attrs), "f32[2,3]");
  EXPECT_EQ(InferOp("rng_uniform", {"u64[n]"}, attrs), "f32[n,2,3]");
  EXPECT_EQ(InferOp("rng_uniform", {"i64[]"}, attrs),
            "rng_uniform: operand 0 is the key and must be u64, found i64[]");
  EXPECT_EQ(InferOp("rng_bits", {"u64[]"}, attrs),
            "rng_bits: does not draw f32; draw another type and convert");
}

}  // namespace
}  // namespace weir
