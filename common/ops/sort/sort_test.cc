#include <cmath>

#include "common/ops/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Attrs SortAttrs(int axis, bool descending) {
  return {{"axis", axis}, {"descending", descending}, {"is_stable", true}};
}

TEST(SortTest, ByTheFirstOperand) {
  const Tensor keys = Tensor::Of<int32_t>({5}, {3, 1, 2, 1, 3});
  const Tensor payload = Tensor::Of<int32_t>({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(EvalOp("sort", {keys, payload}, SortAttrs(0, false)),
            "i32[5] {1, 1, 2, 3, 3}; i32[5] {1, 3, 2, 0, 4}");
  EXPECT_EQ(EvalOp("sort", {keys, payload}, SortAttrs(0, true)),
            "i32[5] {3, 3, 2, 1, 1}; i32[5] {0, 4, 2, 1, 3}");
}

TEST(SortTest, AlongEitherAxis) {
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {3, 1, 2, 1, 5, 0});
  EXPECT_EQ(EvalOp("sort", {x}, SortAttrs(0, false)), "i32[2,3] {1, 1, 0, 3, 5, 2}");
  EXPECT_EQ(EvalOp("sort", {x}, SortAttrs(1, false)), "i32[2,3] {1, 2, 3, 0, 1, 5}");
}

TEST(SortTest, NanIsLastAndZerosAreEqual) {
  const Tensor keys = Tensor::Of<float>({5}, {NAN, 0.0f, -0.0f, 1, -1});
  const Tensor payload = Tensor::Of<int32_t>({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(EvalOp("sort", {keys, payload}, SortAttrs(0, false)),
            "f32[5] {-1, 0, -0, 1, nan}; i32[5] {4, 1, 2, 3, 0}");
  EXPECT_EQ(EvalOp("sort", {keys, payload}, SortAttrs(0, true)),
            "f32[5] {1, 0, -0, -1, nan}; i32[5] {3, 1, 2, 4, 0}");
}

TEST(SortTest, Messages) {
  EXPECT_EQ(InferOp("sort", {"f32[n,3]", "i8[n,3]"}, SortAttrs(1, false)), "f32[n,3], i8[n,3]");
  EXPECT_THAT(InferOp("sort", {"f32[n,3]", "i8[3,n]"}, SortAttrs(1, false)),
              HasSubstr("operand 1 (i8[3,n]) must have the shape of operand 0 (f32[n,3])"));
  EXPECT_THAT(InferOp("sort", {"c64[3]"}, SortAttrs(0, false)), HasSubstr("no order"));
  EXPECT_THAT(InferOp("sort", {"f32[]"}, SortAttrs(0, false)), HasSubstr("axis 0 of 0 axes"));
}

TEST(TopKTest, GreatestFirst) {
  EXPECT_EQ(EvalOp("top_k", {Tensor::Of<int32_t>({2, 4}, {1, 4, 4, 2, 7, 0, 9, 7})}, {{"k", 3}}),
            "i32[2,3] {4, 4, 2, 9, 7, 7}; i64[2,3] {1, 2, 3, 2, 0, 3}");
  EXPECT_EQ(InferOp("top_k", {"f32[n,9]"}, {{"k", 2}}), "f32[n,2], i64[n,2]");
  EXPECT_THAT(InferOp("top_k", {"f32[2,3]"}, {{"k", 4}}),
              HasSubstr("cannot take 4 of the last axis of operand 0 (f32[2,3])"));
  EXPECT_THAT(InferOp("top_k", {"f32[]"}, {{"k", 0}}), HasSubstr("has no axis"));
}

TEST(SearchsortedTest, CountsWhatComesBefore) {
  const Tensor sorted = Tensor::Of<float>({5}, {1, 2, 2, 3, NAN});
  const Tensor values = Tensor::Of<float>({5}, {0, 2, 2.5f, 9, NAN});
  EXPECT_EQ(EvalOp("searchsorted", {sorted, values}, {{"side", "left"}}), "i64[5] {0, 1, 3, 4, 4}");
  EXPECT_EQ(EvalOp("searchsorted", {sorted, values}, {{"side", "right"}}),
            "i64[5] {0, 3, 3, 4, 5}");
  EXPECT_EQ(InferOp("searchsorted", {"f32[b,m]", "f32[b,k]"}, {{"side", "left"}}), "i64[b,k]");
  EXPECT_THAT(InferOp("searchsorted", {"f32[2,m]", "f32[3,k]"}, {{"side", "left"}}),
              HasSubstr("in all axes but the last"));
  EXPECT_THAT(InferOp("searchsorted", {"f32[m]", "f32[k]"}, {{"side", "up"}}),
              HasSubstr("neither left nor right"));
}

}  // namespace
}  // namespace weir
