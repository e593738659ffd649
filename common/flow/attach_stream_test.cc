#include "common/flow/attach_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir {
namespace {

using ::testing::HasSubstr;

const RecordType& Type() {
  static const auto* const type =
      new RecordType{*TensorType::Parse("i64[]"), *TensorType::Parse("f32[3]")};
  return *type;
}

RecordBatch Batch(int64_t records) {
  Tensor first(DType::kI64, {records});
  Tensor second(DType::kF32, {records, 3});
  for (int64_t i = 0; i < records; ++i) {
    first.mutable_data<int64_t>()[i] = i * i;
    for (int j = 0; j < 3; ++j) second.mutable_data<float>()[3 * i + j] = static_cast<float>(i + j);
  }
  return MakeBatch({first, second}, 5);
}

v1::FlowRecords Head(const RecordBatch& batch) {
  v1::FlowRecords head;
  head.set_port("in");
  head.set_number(7);
  head.set_epoch(3);
  head.set_has_weights(batch.weights.has_value());
  return head;
}

// What arrives of a batch that goes in pieces of so many bytes, and in how many.
RecordBatch Through(const RecordBatch& batch, size_t piece_bytes, int* pieces) {
  RecordsCutter cutter(Head(batch), TensorsWithOrigins(batch), piece_bytes);
  RecordsAssembler assembler({});
  std::vector<Tensor> tensors;
  v1::FlowRecords piece;
  *pieces = 0;
  bool is_whole = false;
  while (cutter.Next(&piece)) {
    EXPECT_FALSE(is_whole);
    ++*pieces;
    auto added = assembler.Add(&piece, &tensors);
    EXPECT_TRUE(added.ok()) << added.status();
    is_whole = added.ok() && *added;
  }
  EXPECT_TRUE(is_whole);
  EXPECT_EQ(piece.chunks_size(), 0);
  EXPECT_EQ(piece.epoch(), 3);
  auto back = BatchWithOrigins(piece, tensors, Type(), "records");
  EXPECT_TRUE(back.ok()) << back.status();
  return *std::move(back);
}

TEST(AttachStream, ABatchArrivesWholeHoweverItIsCut) {
  for (const int64_t records : {0, 1, 2, 100}) {
    for (const size_t piece_bytes : {1, 7, 64, 1 << 20}) {
      SCOPED_TRACE(testing::Message() << records << " records in pieces of " << piece_bytes);
      RecordBatch batch = Batch(records);
      if (records % 2 == 0) batch.weights = batch.origins;
      int pieces = 0;
      const RecordBatch back = Through(batch, piece_bytes, &pieces);
      EXPECT_TRUE(back.columns[0].BitEquals(batch.columns[0]));
      EXPECT_TRUE(back.columns[1].BitEquals(batch.columns[1]));
      EXPECT_TRUE(back.origins.BitEquals(batch.origins));
      EXPECT_EQ(back.weights.has_value(), batch.weights.has_value());
      if (piece_bytes == 1 << 20) {
        EXPECT_EQ(pieces, 1);
      }
      if (piece_bytes == 1) {
        EXPECT_GE(pieces, records * 20);
      }
    }
  }
}

TEST(AttachStream, PiecesOfAnotherBatchInBetweenAreNoticed) {
  RecordsCutter cutter(Head(Batch(100)), TensorsWithOrigins(Batch(100)), 64);
  RecordsAssembler assembler({});
  std::vector<Tensor> tensors;
  v1::FlowRecords piece;
  ASSERT_TRUE(cutter.Next(&piece));
  ASSERT_TRUE(assembler.Add(&piece, &tensors).ok());
  ASSERT_TRUE(cutter.Next(&piece));
  piece.set_number(8);
  EXPECT_THAT(assembler.Add(&piece, &tensors).status().message(),
              HasSubstr("batch 8 of 'in' came within batch 7 of 'in'"));
}

TEST(AttachStream, ABatchBeyondTheLimitIsRefused) {
  RecordsCutter cutter(Head(Batch(100)), TensorsWithOrigins(Batch(100)));
  RecordsAssembler assembler({.max_bytes = 1000});
  std::vector<Tensor> tensors;
  v1::FlowRecords piece;
  ASSERT_TRUE(cutter.Next(&piece));
  EXPECT_EQ(assembler.Add(&piece, &tensors).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(AttachStream, RecordsOfAClientAreNumberedFromWhereTheEpochIs) {
  RecordBatch batch = Batch(3);
  batch.weights = Tensor::Of<int64_t>({3}, {1, -1, 2});
  auto back = BatchWithoutOrigins(Head(batch), TensorsWithoutOrigins(batch), 40, Type(), "records");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->origin(0), 40);
  EXPECT_EQ(back->origin(2), 42);
  EXPECT_EQ(back->weight(1), -1);
  batch.weights = Tensor::Of<int64_t>({2}, {1, -1});
  EXPECT_THAT(BatchWithoutOrigins(Head(batch), TensorsWithoutOrigins(batch), 0, Type(), "records")
                  .status()
                  .message(),
              HasSubstr("weights"));
  EXPECT_THAT(BatchWithOrigins(Head(batch), {}, Type(), "records").status().message(),
              HasSubstr("records came with 0 tensors instead of 4"));
}

}  // namespace
}  // namespace weir
