#include "common/ops/resize_lang.h"

#include "common/ops/lang_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

Build To(std::vector<Dim> sizes, ResizeMethod method, Antialias antialias = Antialias::kNo) {
  return [=](Builder& b, const std::vector<ValueId>& v) {
    Int64s axes;
    for (size_t i = 0; i < sizes.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    return Resize(b, v[0], axes, sizes, method, antialias);
  };
}

void ExpectNear(const Tensor& found, const std::vector<double>& want) {
  const Tensor dense = found.Contiguous();
  ASSERT_EQ(dense.num_elements(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(dense.data<double>()[i], want[i], 1e-14);
}

TEST(ResizeTest, NearestTakesTheElementUnderTheCenter) {
  const Tensor x = Tensor::Of<int32_t>({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(Text({x}, To({3}, ResizeMethod::kNearest)), "i32[3] {0, 2, 4}");
  EXPECT_EQ(Text({x}, To({10}, ResizeMethod::kNearest)), "i32[10] {0, 0, 1, 1, 2, 2, 3, 3, 4, 4}");
  EXPECT_EQ(Text({x}, To({2}, ResizeMethod::kNearest)), "i32[2] {1, 3}");
  EXPECT_EQ(Text({x}, To({0}, ResizeMethod::kNearest)), "i32[0] {}");
}

TEST(ResizeTest, LinearUpAndDown) {
  ExpectNear(Result({Tensor::Of<double>({4}, {0, 1, 2, 3})}, To({8}, ResizeMethod::kLinear)),
             {0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3});
  const Tensor x = Tensor::Of<double>({6}, {1, 2, 4, 8, 16, 32});
  ExpectNear(Result({x}, To({3}, ResizeMethod::kLinear)), {1.5, 6, 24});
  ExpectNear(Result({x}, To({3}, ResizeMethod::kLinear, Antialias::kYes)),
             {1.857142857142857, 6.75, 21.714285714285715});
}

TEST(ResizeTest, Cubic) {
  ExpectNear(Result({Tensor::Of<double>({4}, {1, 2, 4, 8})}, To({8}, ResizeMethod::kCubic)),
             {0.9117647058823528, 1.1459854014598538, 1.6412213740458015, 2.3828125, 3.3359375,
              5.022900763358779, 7.2846715328467155, 8.352941176470587});
  ExpectNear(Result({Tensor::Of<double>({5}, {1, 2, 4, 8, 16})},
                    To({2}, ResizeMethod::kCubic, Antialias::kYes)),
             {1.868695467120666, 9.863162374973397});
}

TEST(ResizeTest, SeveralAxesOneAfterTheOther) {
  const Tensor x = Tensor::Of<double>({2, 2}, {0, 4, 8, 12});
  ExpectNear(Result({x}, To({2, 4}, ResizeMethod::kLinear)), {0, 1, 3, 4, 8, 9, 11, 12});
  ExpectNear(Result({x}, To({4, 2}, ResizeMethod::kLinear)), {0, 4, 2, 6, 6, 10, 8, 12});
  ExpectNear(Result({x}, To({1, 1}, ResizeMethod::kLinear)), {6});
}

TEST(ResizeTest, Types) {
  const Dim n = Dim::Symbol("n");
  EXPECT_EQ(TypeOf({"bf16[n,3]"}, To({n * 2, 5}, ResizeMethod::kLinear)), "bf16[2*n,5]");
  EXPECT_EQ(TypeOf({"u8[n,3]"}, To({n * 2}, ResizeMethod::kNearest)), "u8[2*n,3]");
  EXPECT_THAT(TypeOf({"i32[3]"}, To({5}, ResizeMethod::kCubic)), HasSubstr("needs floats"));
  EXPECT_THAT(TypeOf({"f32[3]"}, To({5, 2}, ResizeMethod::kLinear)), HasSubstr("axis 1"));
}

}  // namespace
}  // namespace weir
