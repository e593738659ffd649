#include "common/tensor/tensor.h"

#include <new>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 0, 1, 2, ...
Tensor Counting(absl::Span<const int64_t> extents) {
  Tensor out(DType::kI32, extents);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    out.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return out;
}

std::vector<int32_t> Values(const Tensor& tensor) {
  std::vector<int32_t> out(static_cast<size_t>(tensor.num_elements()));
  tensor.CopyTo(out.data());
  return out;
}

TEST(BufferTest, AlignedAndPadded) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{1000}, size_t{9} << 20}) {
    const std::shared_ptr<Buffer> buffer = Buffer::Allocate(bytes);
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % Buffer::kAlignment, 0u);
    for (size_t i = 0; i < Buffer::kAlignment - 1; ++i) buffer->data()[bytes + i] = std::byte{1};
  }
}

TEST(BufferTest, TellsWhenThereIsNoMemory) {
  for (size_t bytes : {size_t{1} << 50, size_t{1} << 62, ~size_t{0}}) {
    const absl::StatusOr<std::shared_ptr<Buffer>> buffer = Buffer::TryAllocate(bytes);
    EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(buffer.status().message(), HasSubstr(std::to_string(bytes) + " bytes"));
    EXPECT_THROW(Buffer::Allocate(bytes), std::bad_alloc);
  }
}

TEST(BufferTest, WrapReleasesOnce) {
  int released = 0;
  int32_t memory[2] = {1, 2};
  std::shared_ptr<Buffer> buffer = Buffer::Wrap(memory, sizeof memory, [&] { ++released; });
  Tensor a(DType::kI32, {2}, {1}, 0, std::move(buffer));
  Tensor b = a;
  a = Tensor();
  EXPECT_EQ(released, 0);
  EXPECT_EQ(b.At<int32_t>({1}), 2);
  b = Tensor();
  EXPECT_EQ(released, 1);
}

TEST(TensorTest, MakersFillMemory) {
  const Tensor t = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(t.At<float>({1, 2}), 6);
  EXPECT_EQ(t.type().ToString(), "f32[2,3]");
  EXPECT_EQ(t.num_bytes(), 24);
  EXPECT_EQ(Tensor::Scalar(int64_t{7}).At<int64_t>({}), 7);
  const std::vector<double> values = {1.5, 2.5};
  EXPECT_TRUE(Tensor::FromSpan<double>({2}, values).BitEquals(Tensor::Of<double>({2}, {1.5, 2.5})));
  EXPECT_THAT(Values(Tensor::Zeros(DType::kI32, {2, 2})), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(Tensor::Zeros(DType::kI32, {2, 0}).num_elements(), 0);
}

TEST(TensorTest, TryCreateRefusesExtentsFromOutside) {
  EXPECT_EQ(Tensor::TryCreate(DType::kF32, {2, 3})->num_elements(), 6);
  EXPECT_EQ(Tensor::TryCreate(DType::kF32, {2, -3}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::TryCreate(DType::kU8, {int64_t{1} << 55}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorTest, Transpose) {
  const Tensor t = Counting({2, 3}).Transpose({1, 0});
  EXPECT_THAT(t.extents(), ElementsAre(3, 2));
  EXPECT_THAT(Values(t), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_TRUE(t.Contiguous().is_contiguous());
  EXPECT_TRUE(t.Contiguous().BitEquals(t));
}

TEST(TensorTest, Slice) {
  const Tensor t = Counting({4, 5});
  EXPECT_THAT(Values(t.Slice({1, 0}, {4, 5}, {2, 3})), ElementsAre(5, 8, 15, 18));
  EXPECT_THAT(Values(t.Slice({1, 2}, {2, 4}, {1, 1})), ElementsAre(7, 8));
  const Tensor empty = t.Slice({4, 5}, {4, 5}, {1, 2});
  EXPECT_THAT(empty.extents(), ElementsAre(0, 0));
  EXPECT_TRUE(empty.is_contiguous());
  EXPECT_THAT(Values(t.Reverse({0}).Slice({0, 1}, {2, 2}, {1, 1})), ElementsAre(16, 11));
}

TEST(TensorTest, RowsAndRow) {
  const Tensor t = Counting({3, 2});
  EXPECT_THAT(Values(t.Rows(1, 3)), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(t.Rows(3, 3).num_elements(), 0);
  EXPECT_THAT(t.Row(2).extents(), ElementsAre(2));
  EXPECT_THAT(Values(t.Row(2)), ElementsAre(4, 5));
  EXPECT_EQ(t.Row(2).Row(1).rank(), 0);
  EXPECT_EQ(t.Rows(1, 3).buffer(), t.buffer());
}

TEST(TensorTest, Reverse) {
  EXPECT_THAT(Values(Counting({2, 3}).Reverse({1})), ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_THAT(Values(Counting({2, 3}).Reverse({0, 1})), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_EQ(Counting({0, 3}).Reverse({0}).num_elements(), 0);
}

TEST(TensorTest, BroadcastInDim) {
  const Tensor row = Counting({3});
  EXPECT_THAT(Values(row.BroadcastInDim({2, 3}, {1})), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(Values(row.BroadcastInDim({3, 2}, {0})), ElementsAre(0, 0, 1, 1, 2, 2));
  const Tensor column = Counting({2, 1});
  EXPECT_THAT(Values(column.BroadcastInDim({2, 2}, {0, 1})), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(Values(Tensor::Scalar(int32_t{4}).BroadcastInDim({3}, {})), ElementsAre(4, 4, 4));
  EXPECT_THAT(Values(Counting({2, 2}).BroadcastInDim({2, 2}, {1, 0})), ElementsAre(0, 2, 1, 3));
}

TEST(TensorTest, ReshapeIsAViewWhereStridesAllow) {
  const Tensor t = Counting({2, 3, 4});
  EXPECT_EQ(t.Reshape({6, 4}).buffer(), t.buffer());
  const Tensor view = t.Slice({0, 0, 0}, {2, 2, 4}, {1, 1, 1});
  const Tensor split = view.Reshape({2, 1, 2, 2, 2, 1});
  EXPECT_EQ(split.buffer(), t.buffer());
  EXPECT_EQ(Values(split), Values(view));
  const Tensor swapped = t.Transpose({2, 0, 1});
  const Tensor merged = swapped.Reshape({2, 2, 6});
  EXPECT_EQ(merged.buffer(), t.buffer());
  EXPECT_EQ(Values(merged), Values(swapped));
  const Tensor copied = swapped.Reshape({8, 3});
  EXPECT_NE(copied.buffer(), t.buffer());
  EXPECT_EQ(Values(copied), Values(swapped));
  const Tensor flat = swapped.Reshape({24});
  EXPECT_NE(flat.buffer(), t.buffer());
  EXPECT_EQ(Values(flat), Values(swapped));
  EXPECT_THAT(Counting({0, 3}).Reshape({5, 0, 2}).extents(), ElementsAre(5, 0, 2));
  EXPECT_EQ(Counting({1, 1}).Transpose({1, 0}).Reshape({}).rank(), 0);
  const Tensor repeated = Counting({3}).BroadcastInDim({2, 3}, {1});
  EXPECT_EQ(Values(repeated.Reshape({6})), Values(repeated));
}

TEST(TensorTest, ContiguousIgnoresAxesOfOne) {
  const Tensor t = Counting({3, 4});
  EXPECT_TRUE(t.Slice({1, 0}, {2, 4}, {1, 1}).is_contiguous());
  EXPECT_FALSE(t.Slice({0, 1}, {3, 2}, {1, 1}).is_contiguous());
  EXPECT_TRUE(Tensor(DType::kI32, {1, 4}, {77, 1}, 0, t.buffer()).is_contiguous());
  EXPECT_FALSE(t.Reverse({1}).is_contiguous());
  EXPECT_EQ(t.Contiguous().buffer(), t.buffer());
  EXPECT_NE(t.Clone().buffer(), t.buffer());
  EXPECT_TRUE(t.Clone().BitEquals(t));
}

TEST(TensorTest, BitEqualsComparesBitsOnly) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor t = Tensor::Of<float>({2}, {nan, 0.0f});
  EXPECT_TRUE(t.BitEquals(t.Clone()));
  EXPECT_FALSE(t.BitEquals(Tensor::Of<float>({2}, {nan, -0.0f})));
  EXPECT_FALSE(t.BitEquals(t.Reshape({1, 2})));
  EXPECT_FALSE(Tensor::Of<int32_t>({1}, {0}).BitEquals(Tensor::Of<uint32_t>({1}, {0})));
  EXPECT_TRUE(
      Counting({2, 2}).Transpose({1, 0}).BitEquals(Tensor::Of<int32_t>({2, 2}, {0, 2, 1, 3})));
  EXPECT_TRUE(Counting({0}).BitEquals(Counting({0})));
}

TEST(TensorTest, StackKeepsOrder) {
  const Tensor t = Counting({2, 2});
  const Tensor stacked = Stack(DType::kI32, {2, 2}, {t, t.Transpose({1, 0})});
  EXPECT_THAT(stacked.extents(), ElementsAre(2, 2, 2));
  EXPECT_THAT(Values(stacked), ElementsAre(0, 1, 2, 3, 0, 2, 1, 3));
  EXPECT_THAT(Stack(DType::kI32, {2, 2}, {}).extents(), ElementsAre(0, 2, 2));
}

TEST(TensorTest, ToStringOfEveryKind) {
  EXPECT_EQ(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6.5}).ToString(),
            "f32[2,3] {1, 2, 3, 4, 5, 6.5}");
  EXPECT_EQ(Counting({4}).ToString(2), "i32[4] {0, 1, ...}");
  EXPECT_EQ(Counting({4}).ToString(0), "i32[4] {...}");
  EXPECT_EQ(Counting({0}).ToString(), "i32[0] {}");
  EXPECT_EQ(Tensor::Scalar(true).ToString(), "bool[] {true}");
  EXPECT_EQ(Tensor::Scalar(int8_t{-3}).ToString(), "i8[] {-3}");
  EXPECT_EQ(Tensor::Scalar(Half(1.5f)).ToString(), "f16[] {1.5}");
  EXPECT_EQ(Tensor::Scalar(std::complex<float>(1, -2)).ToString(), "c64[] {(1,-2)}");
  EXPECT_EQ(Tensor().ToString(), "f32[] {}");
}

}  // namespace
}  // namespace weir
