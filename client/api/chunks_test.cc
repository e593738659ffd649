#include "client/api/chunks.h"

#include <gtest/gtest.h>

#include "common/tensor/compare.h"

namespace weir {
namespace {

std::vector<v1::TensorChunk> ChunksOf(const std::vector<Tensor>& tensors) {
  std::vector<v1::TensorChunk> chunks;
  for (size_t i = 0; i < tensors.size(); ++i) {
    WriteChunks(static_cast<uint32_t>(i), tensors[i], [&](v1::TensorChunk chunk) {
      chunks.push_back(std::move(chunk));
      return true;
    });
  }
  return chunks;
}

TEST(ChunksTest, TensorsComeBackAsTheyWere) {
  const std::vector<Tensor> tensors = {
      Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}).Transpose({1, 0}),
      Tensor::Zeros(DType::kF64, {0, 4}), Tensor::Zeros(DType::kI8, {3 * kChunkBytes / 2}),
      Tensor::Scalar<int64_t>(7)};
  ChunkReader reader;
  const std::vector<v1::TensorChunk> chunks = ChunksOf(tensors);
  EXPECT_EQ(chunks.size(), 5u);
  for (const v1::TensorChunk& chunk : chunks) ASSERT_TRUE(reader.Add(chunk).ok());
  absl::StatusOr<std::vector<Tensor>> got = reader.Finish();
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) EXPECT_EQ(Difference((*got)[i], tensors[i]), "");
}

TEST(ChunksTest, WhatIsOutOfOrderOrTooMuchIsAnError) {
  std::vector<v1::TensorChunk> chunks = ChunksOf({Tensor::Zeros(DType::kF32, {4})});
  ChunkReader again;
  ASSERT_TRUE(again.Add(chunks[0]).ok());
  EXPECT_FALSE(again.Add(chunks[0]).ok());
  ChunkReader late;
  chunks[0].set_offset(4);
  EXPECT_FALSE(late.Add(chunks[0]).ok());
  ChunkReader more;
  chunks[0].set_offset(0);
  chunks[0].mutable_data()->append("x");
  EXPECT_FALSE(more.Add(chunks[0]).ok());
}

TEST(ChunksTest, AnnouncedBytesTakeNoMemory) {
  v1::TensorChunk chunk;
  chunk.mutable_header()->set_dtype(static_cast<uint32_t>(DType::kF32));
  chunk.mutable_header()->add_extents(int64_t{1} << 50);
  ChunkReader reader;
  EXPECT_TRUE(reader.Add(chunk).ok());
  EXPECT_FALSE(reader.Finish().ok());
}

}  // namespace
}  // namespace weir
