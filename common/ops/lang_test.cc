#include "common/ops/lang.h"

#include <cmath>

#include "common/ops/lang_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Dim N() { return Dim::Symbol("n"); }
using Dims = std::vector<Dim>;

Build Apply2(std::string op) {
  return [op](Builder& b, const std::vector<ValueId>& v) { return Binary(b, op, v[0], v[1]); };
}

TEST(BinaryTest, BroadcastsAndPromotes) {
  EXPECT_EQ(TypeOf({"f32[n,3]", "f32[3]"}, Apply2("add")), "f32[n,3]");
  EXPECT_EQ(TypeOf({"f32[n,1]", "f32[1,m]"}, Apply2("add")), "f32[n,m]");
  EXPECT_EQ(TypeOf({"i32[]", "f16[4,n]"}, Apply2("multiply")), "f16[4,n]");
  EXPECT_EQ(TypeOf({"f64[2]", "i64[]"}, Apply2("less")), "bool[2]");
  EXPECT_THAT(TypeOf({"f32[n]", "f32[m]"}, Apply2("add")),
              HasSubstr("shapes [n] and [m] do not broadcast together: n against m"));
  EXPECT_THAT(TypeOf({"f32[2,3]", "f32[2]"}, Apply2("add")), HasSubstr("3 against 2"));
  EXPECT_EQ(Text({Tensor::Of<int32_t>({2, 1}, {1, 2}), Tensor::Of<int32_t>({3}, {10, 20, 30})},
                 Apply2("add")),
            "i32[2,3] {11, 21, 31, 12, 22, 32}");
}

TEST(BinaryTest, LiteralsTakeTheTypeOfTheTensor) {
  auto half = [](Builder& b, const std::vector<ValueId>& v) {
    return Binary(b, "multiply", v[0], 0.5);
  };
  EXPECT_EQ(TypeOf({"bf16[n]"}, half), "bf16[n]");
  EXPECT_EQ(Text({Tensor::Of<float>({2}, {4, -6})}, half), "f32[2] {2, -3}");
}

TEST(BroadcastTest, KeepsWhatFits) {
  auto same = [](Builder& b, const std::vector<ValueId>& v) {
    const ValueId same = BroadcastTo(b, v[0], b.type(v[0]).shape);
    EXPECT_EQ(same, v[0]);
    return same;
  };
  EXPECT_EQ(TypeOf({"f32[n,3]"}, same), "f32[n,3]");
  EXPECT_THAT(TypeOf({"f32[2,3]"},
                     [](Builder& b, const std::vector<ValueId>& v) {
                       return BroadcastTo(b, v[0], Shape({3}));
                     }),
              HasSubstr("shape [2,3] does not broadcast to [3]"));
}

TEST(WhereTest, PromotesTheChoices) {
  EXPECT_EQ(
      Text({Tensor::Of<bool>({2}, {true, false}), Tensor::Scalar<int32_t>(1),
            Tensor::Of<float>({2, 1}, {0.5f, 1.5f})},
           [](Builder& b, const std::vector<ValueId>& v) { return Where(b, v[0], v[1], v[2]); }),
      "f32[2,2] {1, 0.5, 1, 1.5}");
}

TEST(LangReshapeTest, LeavesOneDimensionOpen) {
  auto to = [](Dims shape) {
    return [shape](Builder& b, const std::vector<ValueId>& v) { return Reshape(b, v[0], shape); };
  };
  EXPECT_EQ(TypeOf({"f32[n,6]"}, to({-1, 3})), "f32[2*n,3]");
  EXPECT_EQ(TypeOf({"f32[n,2,3]"}, to({N(), -1})), "f32[n,6]");
  EXPECT_THAT(TypeOf({"f32[n]"}, to({-1, -1})), HasSubstr("not two"));
}

TEST(LangReshapeTest, SqueezeAndExpand) {
  auto squeeze = [](Int64s axes) {
    return [axes](Builder& b, const std::vector<ValueId>& v) { return Squeeze(b, v[0], axes); };
  };
  auto expand = [](Int64s axes) {
    return [axes](Builder& b, const std::vector<ValueId>& v) { return ExpandDims(b, v[0], axes); };
  };
  EXPECT_EQ(TypeOf({"f32[1,n,1]"}, squeeze({-1})), "f32[1,n]");
  EXPECT_EQ(TypeOf({"f32[1,n,1]"}, squeeze({0, 2})), "f32[n]");
  EXPECT_THAT(TypeOf({"f32[1,n]"}, squeeze({1})), HasSubstr("cannot squeeze axis 1 of f32[1,n]"));
  EXPECT_THAT(TypeOf({"f32[1,n]"}, squeeze({2})), HasSubstr("no axis 2 among 2"));
  EXPECT_EQ(TypeOf({"f32[n]"}, expand({0, -1})), "f32[1,n,1]");
  EXPECT_EQ(TypeOf({"f32[n,m]"}, expand({1})), "f32[n,1,m]");
  EXPECT_THAT(TypeOf({"f32[n]"}, expand({0, 0})), HasSubstr("added twice"));
}

TEST(MovementTest, NegativeAxes) {
  EXPECT_EQ(TypeOf({"f32[n,3,4]"},
                   [](Builder& b, const std::vector<ValueId>& v) {
                     return Transpose(b, v[0], {-1, 0, 1});
                   }),
            "f32[4,n,3]");
  EXPECT_EQ(TypeOf({"f32[n,3]", "i32[n,4]"},
                   [](Builder& b, const std::vector<ValueId>& v) {
                     return Concatenate(b, {v[0], v[1]}, -1);
                   }),
            "f32[n,7]");
  EXPECT_EQ(
      Text({Tensor::Of<int32_t>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
           [](Builder& b, const std::vector<ValueId>& v) { return Slice(b, v[0], -1, 1, 4, 2); }),
      "i32[2,2] {1, 3, 5, 7}");
}

TEST(TakeTest, ReplacesTheAxis) {
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(Text({x, Tensor::Scalar<int64_t>(1)},
                 [](Builder& b, const std::vector<ValueId>& v) { return TakeRow(b, v[0], v[1]); }),
            "i32[3] {10, 11, 12}");
  EXPECT_EQ(Text({x, Tensor::Of<int64_t>({2, 2}, {2, 0, 1, 1})},
                 [](Builder& b, const std::vector<ValueId>& v) { return Take(b, v[0], v[1], -1); }),
            "i32[2,2,2] {2, 0, 1, 1, 12, 10, 11, 11}");
  EXPECT_EQ(
      TypeOf({"f32[n,5,7]", "i32[k,2]"},
             [](Builder& b, const std::vector<ValueId>& v) { return Take(b, v[0], v[1], 1); }),
      "f32[n,k,2,7]");
}

TEST(LangReduceTest, KeepsAxesOnRequest) {
  auto sum = [](Int64s axes, ReducedAxes then) {
    return [=](Builder& b, const std::vector<ValueId>& v) {
      return Reduce(b, "reduce_sum", v[0], axes, then);
    };
  };
  EXPECT_EQ(TypeOf({"f32[n,3,4]"}, sum({-1, 0}, ReducedAxes::kDrop)), "f32[3]");
  EXPECT_EQ(TypeOf({"f32[n,3,4]"}, sum({-1, 0}, ReducedAxes::kKeep)), "f32[1,3,1]");
}

TEST(LangReduceTest, MeanOverNumbersAndSymbols) {
  auto mean = [](Builder& b, const std::vector<ValueId>& v) { return Mean(b, v[0], {0}); };
  EXPECT_EQ(Text({Tensor::Of<float>({4}, {1, 2, 3, 6})}, mean), "f32[] {3}");
  EXPECT_EQ(Text({Tensor::Of<Half>({2}, {Half(60000.0f), Half(50016.0f)})}, mean), "f16[] {55008}");
  EXPECT_THAT(TypeOf({"i32[4]"}, mean), HasSubstr("cast it first"));
  const absl::StatusOr<Graph> graph = BuildGraph({TensorType::Parse("f64[n,2]").value()}, mean);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Tensor x = Tensor::Of<double>({3, 2}, {1, 2, 3, 4, 5, 9});
  EXPECT_EQ(RunStraight(*graph, {x}).value()[0].ToString(), "f64[2] {3, 5}");
}

TEST(SoftmaxTest, SumsToOneWithoutOverflow) {
  const Tensor x = Tensor::Of<float>({2, 3}, {1000, 1000, 1000, 0, 1, 2});
  const Tensor y =
      Result({x}, [](Builder& b, const std::vector<ValueId>& v) { return Softmax(b, v[0], -1); });
  EXPECT_FLOAT_EQ(y.At<float>({0, 1}), 1.0f / 3);
  EXPECT_NEAR(y.At<float>({1, 2}), 0.66524096, 1e-6);
  const Tensor z =
      Result({x}, [](Builder& b, const std::vector<ValueId>& v) { return LogSoftmax(b, v[0], 1); });
  EXPECT_NEAR(z.At<float>({1, 2}), std::log(0.66524096), 1e-6);
}

Build Product() {
  return [](Builder& b, const std::vector<ValueId>& v) { return MatMul(b, v[0], v[1]); };
}

TEST(MatMulTest, ShapesOfNumPy) {
  EXPECT_EQ(TypeOf({"f32[k]", "f32[k]"}, Product()), "f32[]");
  EXPECT_EQ(TypeOf({"f32[m,k]", "f32[k]"}, Product()), "f32[m]");
  EXPECT_EQ(TypeOf({"f32[k]", "f32[k,n]"}, Product()), "f32[n]");
  EXPECT_EQ(TypeOf({"f32[m,k]", "f32[k,n]"}, Product()), "f32[m,n]");
  EXPECT_EQ(TypeOf({"f32[a,b,m,k]", "f32[k,n]"}, Product()), "f32[a,b,m,n]");
  EXPECT_EQ(TypeOf({"f32[m,k]", "f32[a,k,n]"}, Product()), "f32[a,m,n]");
  EXPECT_EQ(TypeOf({"f32[a,1,m,k]", "f32[b,k,n]"}, Product()), "f32[a,b,m,n]");
  EXPECT_EQ(TypeOf({"f32[a,m,k]", "f32[k]"}, Product()), "f32[a,m]");
  EXPECT_EQ(TypeOf({"f32[k]", "f32[a,k,n]"}, Product()), "f32[a,n]");
  EXPECT_EQ(TypeOf({"i32[m,k]", "f64[k,n]"}, Product()), "f64[m,n]");
  EXPECT_THAT(TypeOf({"f32[a,m,k]", "f32[b,k,n]"}, Product()), HasSubstr("a against b"));
  EXPECT_THAT(TypeOf({"f32[]", "f32[2]"}, Product()), HasSubstr("needs axes"));
}

TEST(MatMulTest, Values) {
  const Tensor x = Tensor::Of<int32_t>({2, 2}, {1, 2, 3, 4});
  const Tensor y = Tensor::Of<int32_t>({2, 3}, {1, 0, 2, 0, 1, 3});
  EXPECT_EQ(Text({x, y}, Product()), "i32[2,3] {1, 2, 8, 3, 4, 18}");
  const Tensor stack = Tensor::Of<int32_t>({2, 2, 1}, {1, 0, 0, 1});
  EXPECT_EQ(Text({x, stack}, Product()), "i32[2,2,1] {1, 3, 2, 4}");
  EXPECT_EQ(Text({Tensor::Of<int32_t>({2}, {10, 1}), y}, Product()), "i32[3] {10, 1, 23}");
}

TEST(FullTest, Symbols) {
  EXPECT_EQ(TypeOf({"f32[n]"},
                   [](Builder& b, const std::vector<ValueId>& v) { return FullLike(b, v[0], 2); }),
            "f32[n]");
  EXPECT_EQ(Text({}, [](Builder& b,
                        const std::vector<ValueId>&) { return Full(b, DType::kU8, {2}, 300); }),
            "u8[2] {255, 255}");
  EXPECT_EQ(Text({},
                 [](Builder& b, const std::vector<ValueId>&) {
                   return Iota(b, DType::kF16, {2, 3}, -1);
                 }),
            "f16[2,3] {0, 1, 2, 0, 1, 2}");
  EXPECT_EQ(Text({Tensor::Zeros(DType::kF32, {5})},
                 [](Builder& b, const std::vector<ValueId>& v) {
                   return DimValue(b, b.type(v[0]).shape[0] * 2);
                 }),
            "i64[] {10}");
}

}  // namespace
}  // namespace weir
