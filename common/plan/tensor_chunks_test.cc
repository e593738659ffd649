#include "common/plan/tensor_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace weir {
namespace {

using testing::HasSubstr;

Tensor Counting(std::initializer_list<int64_t> extents) {
  Tensor tensor(DType::kF32, std::vector<int64_t>(extents));
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.num_elements(),
            0.0f);
  return tensor;
}

v1::TensorChunk Chunk(uint32_t index, std::vector<int64_t> extents, uint64_t offset, size_t bytes) {
  v1::TensorChunk chunk;
  chunk.set_index(index);
  chunk.mutable_header()->set_dtype(static_cast<uint32_t>(DType::kF32));
  for (int64_t extent : extents) chunk.mutable_header()->add_extents(extent);
  chunk.set_offset(offset);
  chunk.set_data(std::string(bytes, 'x'));
  return chunk;
}

v1::TensorChunk More(uint32_t index, uint64_t offset, size_t bytes) {
  v1::TensorChunk chunk = Chunk(index, {}, offset, bytes);
  chunk.clear_header();
  return chunk;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(TensorChunksTest, WhatIsCutIsPutTogether) {
  const std::vector<Tensor> tensors = {Counting({3, 1000}), Counting({0, 5}),
                                       Tensor::Scalar<int64_t>(7),
                                       Counting({4, 6}).Transpose({1, 0})};
  ChunkCutter cutter(tensors, 256);
  ChunkAssembler assembler;
  v1::TensorChunk chunk;
  int chunks = 0;
  while (cutter.Next(&chunk)) {
    EXPECT_LE(chunk.data().size(), 256u);
    ASSERT_TRUE(assembler.Add(chunk).ok());
    ++chunks;
  }
  EXPECT_EQ(chunks, 47 + 1 + 1 + 1);
  const auto got = assembler.Finish();
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) EXPECT_TRUE((*got)[i].BitEquals(tensors[i])) << i;
}

TEST(TensorChunksTest, GrowsWithWhatArrives) {
  // 4 GiB are announced, and 8 bytes come: the header alone must not take the memory.
  ChunkAssembler assembler;
  EXPECT_TRUE(assembler.Add(Chunk(0, {1 << 30}, 0, 8)).ok());
  EXPECT_THAT(Message(assembler.Finish().status()), HasSubstr("after 8 of 4294967296 bytes"));
}

TEST(TensorChunksTest, LargeTensorInManyPieces) {
  const Tensor large = Counting({3 << 20});
  ChunkCutter cutter({large}, 1 << 20);
  ChunkAssembler assembler;
  v1::TensorChunk chunk;
  while (cutter.Next(&chunk)) ASSERT_TRUE(assembler.Add(chunk).ok());
  EXPECT_TRUE((*assembler.Finish())[0].BitEquals(large));
}

TEST(TensorChunksTest, OutOfOrder) {
  const auto failed = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(ChunkAssembler().Add(More(0, 0, 4)).code(), failed);
  EXPECT_EQ(ChunkAssembler().Add(Chunk(1, {2}, 0, 8)).code(), failed);
  EXPECT_EQ(ChunkAssembler().Add(Chunk(0, {2}, 4, 4)).code(), failed);
  ChunkAssembler assembler;
  ASSERT_TRUE(assembler.Add(Chunk(0, {4}, 0, 8)).ok());
  EXPECT_EQ(assembler.Add(More(0, 4, 4)).code(), failed);
  EXPECT_EQ(assembler.Add(More(1, 8, 4)).code(), failed);
  EXPECT_EQ(assembler.Add(Chunk(0, {4}, 8, 4)).code(), failed);
  EXPECT_EQ(assembler.Finish().status().code(), failed);
}

TEST(TensorChunksTest, SenselessHeaders) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(ChunkAssembler().Add(Chunk(0, {-1}, 0, 0)).code(), invalid);
  EXPECT_EQ(ChunkAssembler().Add(Chunk(0, {int64_t{1} << 62, 4}, 0, 0)).code(), invalid);
  EXPECT_EQ(ChunkAssembler().Add(Chunk(0, std::vector<int64_t>(33, 1), 0, 4)).code(), invalid);
  v1::TensorChunk chunk = Chunk(0, {1}, 0, 4);
  chunk.mutable_header()->set_dtype(99);
  EXPECT_EQ(ChunkAssembler().Add(chunk).code(), invalid);
}

TEST(TensorChunksTest, MoreBytesThanAnnounced) {
  const absl::Status status = ChunkAssembler().Add(Chunk(0, {2}, 0, 9));
  EXPECT_EQ(Message(status), "tensor 0 has more than the 8 bytes of its header");
}

TEST(TensorChunksTest, LimitsCountAllTensors) {
  ChunkLimits limits;
  limits.max_bytes = 12;
  ChunkAssembler assembler(limits);
  ASSERT_TRUE(assembler.Add(Chunk(0, {2}, 0, 8)).ok());
  EXPECT_EQ(assembler.Add(Chunk(1, {2}, 0, 8)).code(), absl::StatusCode::kResourceExhausted);
  limits.max_tensors = 1;
  ChunkAssembler one(limits);
  ASSERT_TRUE(one.Add(Chunk(0, {1}, 0, 4)).ok());
  EXPECT_EQ(one.Add(Chunk(1, {1}, 0, 4)).code(), absl::StatusCode::kResourceExhausted);
}

TEST(TensorChunksTest, WholeMessages) {
  v1::Tensor message;
  const Tensor tensor = Counting({2, 3}).Transpose({1, 0});
  ToMessage(tensor, &message);
  EXPECT_TRUE(FromMessage(message)->BitEquals(tensor));
  message.mutable_data()->pop_back();
  EXPECT_EQ(Message(FromMessage(message).status()), "the header says 24 bytes, but 23 came");
}

}  // namespace
}  // namespace weir
