#include <cmath>

#include "common/ops/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::string Sum(const Tensor& x, Int64s axes) {
  return EvalOp("reduce_sum", {x}, {{"axes", std::move(axes)}});
}

TEST(ReduceTest, AxesAndSymbols) {
  EXPECT_EQ(InferOp("reduce_sum", {"f32[n,3,m]"}, {{"axes", Int64s{2, 1}}}), "f32[n]");
  EXPECT_EQ(InferOp("reduce_max", {"f32[n]"}, {{"axes", Int64s{0}}}), "f32[]");
  EXPECT_THAT(InferOp("reduce_sum", {"f32[2,3]"}, {{"axes", Int64s{2}}}),
              HasSubstr("'axes' names axis 2 of 2 axes"));
  EXPECT_THAT(InferOp("reduce_sum", {"f32[2,3]"}, {{"axes", Int64s{-1}}}),
              HasSubstr("'axes' names axis -1"));
  EXPECT_THAT(InferOp("reduce_sum", {"f32[2,3]"}, {{"axes", Int64s{1, 1}}}),
              HasSubstr("axis 1 twice"));
  EXPECT_THAT(InferOp("reduce_max", {"c64[2]"}, {{"axes", Int64s{0}}}),
              HasSubstr("not defined for operand 0 (c64[2])"));
  EXPECT_THAT(InferOp("reduce_and", {"f32[2]"}, {{"axes", Int64s{0}}}), HasSubstr("not defined"));
}

TEST(ReduceTest, Values) {
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Sum(x, {0}), "i32[3] {5, 7, 9}");
  EXPECT_EQ(Sum(x, {1}), "i32[2] {6, 15}");
  EXPECT_EQ(Sum(x, {1, 0}), "i32[] {21}");
  EXPECT_EQ(EvalOp("reduce_prod", {x}, {{"axes", Int64s{1}}}), "i32[2] {6, 120}");
  EXPECT_EQ(EvalOp("reduce_min", {x}, {{"axes", Int64s{0}}}), "i32[3] {1, 2, 3}");
  EXPECT_EQ(EvalOp("reduce_max", {x}, {{"axes", Int64s{0}}}), "i32[3] {4, 5, 6}");
  EXPECT_EQ(EvalOp("reduce_and", {x}, {{"axes", Int64s{0}}}), "i32[3] {0, 0, 2}");
  EXPECT_EQ(EvalOp("reduce_or", {x}, {{"axes", Int64s{0}}}), "i32[3] {5, 7, 7}");
}

TEST(ReduceTest, NothingGivesTheIdentity) {
  const Attrs axes = {{"axes", Int64s{0}}};
  auto of_nothing = [&](std::string op, DType dtype) {
    return EvalOp(std::move(op), {Tensor(dtype, {0})}, axes);
  };
  EXPECT_EQ(of_nothing("reduce_sum", DType::kF32), "f32[] {0}");
  EXPECT_EQ(of_nothing("reduce_prod", DType::kI8), "i8[] {1}");
  EXPECT_EQ(of_nothing("reduce_max", DType::kF32), "f32[] {-inf}");
  EXPECT_EQ(of_nothing("reduce_min", DType::kF16), "f16[] {inf}");
  EXPECT_EQ(of_nothing("reduce_max", DType::kI8), "i8[] {-128}");
  EXPECT_EQ(of_nothing("reduce_min", DType::kU8), "u8[] {255}");
  EXPECT_EQ(of_nothing("reduce_and", DType::kI16), "i16[] {-1}");
  EXPECT_EQ(of_nothing("reduce_and", DType::kBool), "bool[] {true}");
  EXPECT_EQ(of_nothing("reduce_or", DType::kBool), "bool[] {false}");
}

TEST(ReduceTest, IntegersWrapAndNanWins) {
  EXPECT_EQ(Sum(Tensor::Of<int8_t>({2}, {127, 1}), {0}), "i8[] {-128}");
  EXPECT_EQ(
      EvalOp("reduce_prod", {Tensor::Of<uint16_t>({2}, {65535, 65535})}, {{"axes", Int64s{0}}}),
      "u16[] {1}");
  for (const char* op : {"reduce_max", "reduce_min"}) {
    EXPECT_THAT(EvalOp(op, {Tensor::Of<float>({3}, {1, NAN, 2})}, {{"axes", Int64s{0}}}),
                HasSubstr("nan"));
  }
  EXPECT_EQ(EvalOp("reduce_max", {Tensor::Of<float>({2}, {-0.0f, 0.0f})}, {{"axes", Int64s{0}}}),
            "f32[] {0}");
  EXPECT_EQ(EvalOp("reduce_min", {Tensor::Of<float>({2}, {0.0f, -0.0f})}, {{"axes", Int64s{0}}}),
            "f32[] {-0}");
}

TEST(ReduceTest, SumsAreAccurate) {
  // 2^24 + 1 + 1 + ... loses every 1 when added up in f32.
  Tensor x(DType::kF32, {1001});
  std::fill_n(x.mutable_data<float>(), 1001, 1.0f);
  x.mutable_data<float>()[0] = 16777216.0f;
  const std::vector<Tensor> sum = EvalOpAll("reduce_sum", {x}, {{"axes", Int64s{0}}}).value();
  EXPECT_EQ(sum[0].At<float>({}), 16778216.0f);
}

TEST(CumulativeTest, Directions) {
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](std::string op, int axis, bool reverse, bool exclusive) {
    return EvalOp(std::move(op), {x},
                  {{"axis", axis}, {"reverse", reverse}, {"exclusive", exclusive}});
  };
  EXPECT_EQ(run("cumsum", 1, false, false), "i32[2,3] {1, 3, 6, 4, 9, 15}");
  EXPECT_EQ(run("cumsum", 1, true, false), "i32[2,3] {6, 5, 3, 15, 11, 6}");
  EXPECT_EQ(run("cumsum", 1, false, true), "i32[2,3] {0, 1, 3, 0, 4, 9}");
  EXPECT_EQ(run("cumsum", 1, true, true), "i32[2,3] {5, 3, 0, 11, 6, 0}");
  EXPECT_EQ(run("cumsum", 0, false, false), "i32[2,3] {1, 2, 3, 5, 7, 9}");
  EXPECT_EQ(run("cumprod", 1, false, true), "i32[2,3] {1, 1, 2, 1, 4, 20}");
  EXPECT_EQ(run("cummax", 1, true, false), "i32[2,3] {3, 3, 3, 6, 6, 6}");
  EXPECT_EQ(run("cummin", 0, false, false), "i32[2,3] {1, 2, 3, 1, 2, 3}");
}

TEST(ExtremumTest, TiesAndNan) {
  auto run = [](std::string op, const Tensor& x) {
    return EvalOp(std::move(op), {x}, {{"axis", 0}, {"dtype", DType::kI32}});
  };
  const Tensor ties = Tensor::Of<float>({4}, {2, 5, 5, 2});
  EXPECT_EQ(run("argmax", ties), "i32[] {1}");
  EXPECT_EQ(run("argmin", ties), "i32[] {0}");
  const Tensor nan = Tensor::Of<float>({4}, {-INFINITY, INFINITY, NAN, NAN});
  EXPECT_EQ(run("argmax", nan), "i32[] {2}");
  EXPECT_EQ(run("argmin", nan), "i32[] {2}");
  EXPECT_EQ(run("argmax", Tensor::Of<float>({2}, {-0.0f, 0.0f})), "i32[] {0}");
  EXPECT_EQ(InferOp("argmax", {"f32[n,4]"}, {{"axis", 1}, {"dtype", DType::kI64}}), "i64[n]");
  EXPECT_THAT(InferOp("argmax", {"f32[4]"}, {{"axis", 0}, {"dtype", DType::kF32}}),
              HasSubstr("must be i32 or i64, found f32"));
  EXPECT_THAT(InferOp("argmin", {"f32[2,0]"}, {{"axis", 1}, {"dtype", DType::kI64}}),
              HasSubstr("axis 1 of operand 0 (f32[2,0]) has no elements"));
}

}  // namespace
}  // namespace weir
