#include "common/ops/index_lang.h"

#include "common/ops/lang_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using Values = const std::vector<ValueId>&;

Build Segments(SegmentKind kind, SegmentOrder order = SegmentOrder::kAny) {
  return [=](Builder& b, Values v) { return SegmentReduce(b, kind, v[0], v[1], 4, order); };
}

TEST(SegmentReduceTest, DropsIdsThatAreNoSegment) {
  const Tensor x = Tensor::Of<float>({6}, {1, 2, 3, 4, 5, 6});
  const Tensor ids = Tensor::Of<int32_t>({6}, {2, 0, -1, 2, 4, 0});
  EXPECT_EQ(Text({x, ids}, Segments(SegmentKind::kSum)), "f32[4] {8, 0, 5, 0}");
  EXPECT_EQ(Text({x, ids}, Segments(SegmentKind::kProd)), "f32[4] {12, 1, 4, 1}");
  EXPECT_EQ(Text({x, ids}, Segments(SegmentKind::kMin)), "f32[4] {2, inf, 1, inf}");
  EXPECT_EQ(Text({x, ids}, Segments(SegmentKind::kMax)), "f32[4] {6, -inf, 4, -inf}");
  EXPECT_EQ(Text({x, ids}, Segments(SegmentKind::kMean)), "f32[4] {4, 0, 2.5, 0}");
}

TEST(SegmentReduceTest, OfRowsAndOfEveryType) {
  const Tensor ids = Tensor::Of<int64_t>({3}, {0, 0, 3});
  EXPECT_EQ(Text({Tensor::Of<int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}), ids},
                 Segments(SegmentKind::kMax, SegmentOrder::kSorted)),
            "i8[4,2] {3, 4, -128, -128, -128, -128, 5, 6}");
  EXPECT_EQ(Text({Tensor::Of<bool>({3}, {true, false, true}), ids}, Segments(SegmentKind::kMin)),
            "bool[4] {false, true, true, true}");
  EXPECT_EQ(TypeOf({"f16[n,3]", "i32[n]"}, Segments(SegmentKind::kMean)), "f16[4,3]");
  EXPECT_THAT(TypeOf({"i32[n]", "i32[n]"}, Segments(SegmentKind::kMean)), HasSubstr("mean"));
  EXPECT_THAT(TypeOf({"f32[]", "i32[n]"}, Segments(SegmentKind::kSum)), HasSubstr("need rows"));
}

TEST(BucketizeTest, CountsBoundaries) {
  auto bucketize = [](BoundaryCounts counts) {
    return [counts](Builder& b, Values v) { return Bucketize(b, v[0], v[1], counts); };
  };
  const Tensor x = Tensor::Of<float>({2, 2}, {-1, 1, 1.5f, 9});
  const Tensor boundaries = Tensor::Of<int32_t>({3}, {0, 1, 2});
  EXPECT_EQ(Text({x, boundaries}, bucketize(BoundaryCounts::kBelow)), "i64[2,2] {0, 2, 2, 3}");
  EXPECT_EQ(Text({x, boundaries}, bucketize(BoundaryCounts::kStrictlyBelow)),
            "i64[2,2] {0, 1, 2, 3}");
}

TEST(RollTest, ByAnyShift) {
  auto roll = [](int axis) {
    return [axis](Builder& b, Values v) { return Roll(b, v[0], v[1], axis); };
  };
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(Text({x, Tensor::Scalar<int64_t>(1)}, roll(-1)), "i32[2,3] {2, 0, 1, 5, 3, 4}");
  EXPECT_EQ(Text({x, Tensor::Scalar<int32_t>(-4)}, roll(1)), "i32[2,3] {1, 2, 0, 4, 5, 3}");
  EXPECT_EQ(Text({x, Tensor::Scalar<int64_t>(INT64_MIN)}, roll(0)), "i32[2,3] {0, 1, 2, 3, 4, 5}");
  EXPECT_EQ(Text({Tensor::Of<float>({0}, {}), Tensor::Scalar<int64_t>(3)}, roll(0)), "f32[0] {}");
  EXPECT_EQ(TypeOf({"f32[n,3]", "i64[]"}, roll(0)), "f32[n,3]");
}

TEST(ReverseSequenceTest, EitherOrderOfAxes) {
  auto reverse = [](int axis, int batch) {
    return [=](Builder& b, Values v) { return ReverseSequence(b, v[0], v[1], axis, batch); };
  };
  const Tensor x = Tensor::Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(Text({x, Tensor::Of<int64_t>({2}, {2, 3})}, reverse(1, 0)),
            "i32[2,3] {1, 0, 2, 5, 4, 3}");
  EXPECT_EQ(Text({x, Tensor::Of<int64_t>({3}, {2, 1, 0})}, reverse(0, 1)),
            "i32[2,3] {3, 1, 2, 0, 4, 5}");
  EXPECT_EQ(TypeOf({"f32[a,b,c,d]", "i32[c]"}, reverse(0, 2)), "f32[a,b,c,d]");
  EXPECT_EQ(TypeOf({"f32[a,b,c,d]", "i32[b]"}, reverse(3, 1)), "f32[a,b,c,d]");
  EXPECT_THAT(TypeOf({"f32[2,3]", "i32[2]"}, reverse(0, 0)), HasSubstr("two different axes"));
}

TEST(TakeAlongTest, IndicesOfTheSameRank) {
  auto take = [](Builder& b, Values v) { return TakeAlong(b, v[0], v[1], -1); };
  EXPECT_EQ(Text({Tensor::Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5}),
                  Tensor::Of<int64_t>({2, 2}, {2, 0, 1, 9})},
                 take),
            "i32[2,2] {2, 0, 4, 5}");
  EXPECT_THAT(TypeOf({"f32[2,3]", "i32[2]"}, take), HasSubstr("must have the axes"));
}

}  // namespace
}  // namespace weir
