// What a client keeps of a flow's inputs and outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/api/receive_buffer.h"
#include "client/api/send_buffer.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kRecord = 16;  // a value and its origin

v1::FlowInput Input(uint64_t taken, int64_t taken_records, int64_t consumed_records) {
  v1::FlowInput input;
  input.set_name("in");
  input.add_types("i64[]");
  input.set_taken(taken);
  input.set_taken_bytes(taken_records * kRecord);
  input.set_consumed_bytes(consumed_records * kRecord);
  input.set_limit_bytes(4 * kRecord);
  return input;
}

RecordBatch Records(int64_t count) {
  Tensor column(DType::kI64, {count});
  for (int64_t i = 0; i < count; ++i) column.mutable_data<int64_t>()[i] = i;
  return MakeBatch({column});
}

TEST(SendBuffer, SendsWithinItsCreditAndOneBatchAlone) {
  SendBuffer buffer = *SendBuffer::Make(Input(0, 0, 0));
  EXPECT_TRUE(buffer.HasCredit(100 * kRecord));
  buffer.Send(0, Records(3));
  EXPECT_TRUE(buffer.HasCredit(kRecord));
  EXPECT_FALSE(buffer.HasCredit(2 * kRecord));
  buffer.OnInput(Input(1, 3, 2));
  EXPECT_TRUE(buffer.HasCredit(3 * kRecord));
  EXPECT_FALSE(buffer.HasCredit(4 * kRecord));
}

TEST(SendBuffer, SendsAgainWhatIsInDoubtWithItsOldNumbers) {
  SendBuffer buffer = *SendBuffer::Make(Input(4, 9, 9));
  EXPECT_EQ(buffer.Send(0, Records(1)).message.records().number(), 5u);
  EXPECT_EQ(buffer.Advance(2)->message.advance().number(), 6u);
  EXPECT_EQ(buffer.Send(2, Records(2)).message.records().number(), 7u);
  buffer.OnInput(Input(5, 10, 9));
  EXPECT_FALSE(buffer.all_taken());
  const std::vector<ToFlow> again = buffer.OnAttached(Input(5, 10, 10));
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_EQ(again[0].message.advance().number(), 6u);
  EXPECT_EQ(again[1].message.records().number(), 7u);
  EXPECT_EQ(buffer.bytes_under_way(), 2 * kRecord);
  EXPECT_EQ(buffer.Send(3, Records(1)).message.records().number(), 8u);
  buffer.OnInput(Input(8, 13, 13));
  EXPECT_TRUE(buffer.all_taken());
  EXPECT_EQ(buffer.bytes_under_way(), 0);
}

TEST(SendBuffer, KnowsWhatWouldBeRefused) {
  SendBuffer buffer = *SendBuffer::Make(Input(0, 0, 0));
  ASSERT_TRUE(buffer.Advance(3).ok());
  EXPECT_THAT(buffer.Check(2, Records(1)).message(), HasSubstr("epoch 2 is over"));
  EXPECT_THAT(buffer.Advance(2).status().message(), HasSubstr("cannot go back to 2"));
  EXPECT_THAT(buffer.Check(3, MakeBatch({Tensor::Of<float>({1}, {1})})).message(),
              HasSubstr("f32[1]"));
  ASSERT_TRUE(buffer.Close().ok());
  EXPECT_THAT(buffer.Check(3, Records(1)).message(), HasSubstr("'in' is closed"));
  EXPECT_THAT(buffer.Close().status().message(), HasSubstr("'in' is closed"));
}

class ReceiveBufferTest : public testing::Test {
 protected:
  static ReceiveBuffer Make() {
    v1::FlowPortType port;
    port.set_name("out");
    port.add_types("i64[]");
    return *ReceiveBuffer::Make(port);
  }
  void Records(uint64_t number, int64_t epoch, int64_t count) {
    v1::FlowRecords records;
    records.set_port("out");
    records.set_number(number);
    records.set_epoch(epoch);
    const absl::Status status =
        buffer_.OnRecords(records, TensorsWithOrigins(weir::Records(count)));
    EXPECT_TRUE(status.ok()) << status;
  }
  void Complete(uint64_t number, int64_t epoch, bool finished = false) {
    v1::FlowComplete complete;
    complete.set_number(number);
    complete.set_epoch(epoch);
    complete.set_finished(finished);
    buffer_.OnComplete(complete);
  }
  // 0 for none.
  uint64_t Acknowledged() {
    const std::optional<ToFlow> ack = buffer_.TakeAck();
    return ack.has_value() ? ack->message.ack().number() : 0;
  }

  ReceiveBuffer buffer_ = Make();
};

TEST_F(ReceiveBufferTest, AcknowledgesWhatWasTakenAndWhatIsInFrontOfTheRest) {
  Records(1, 0, 2);
  Complete(2, 1);
  Records(3, 1, 1);
  EXPECT_EQ(Acknowledged(), 0u);
  EXPECT_TRUE(buffer_.IsComplete(0));
  EXPECT_FALSE(buffer_.IsComplete(1));
  EXPECT_EQ(buffer_.Take()->batch.size(), 2);
  EXPECT_EQ(Acknowledged(), 2u);
  EXPECT_EQ(Acknowledged(), 0u);
  Complete(4, 5, true);
  EXPECT_EQ(buffer_.Take()->epoch, 1);
  EXPECT_EQ(Acknowledged(), 4u);
  EXPECT_FALSE(buffer_.Take().has_value());
  EXPECT_TRUE(buffer_.is_finished());
}

TEST_F(ReceiveBufferTest, WhatComesTwiceIsThereOnce) {
  Records(1, 0, 2);
  Records(2, 0, 1);
  Records(1, 0, 2);
  Records(2, 0, 1);
  EXPECT_EQ(buffer_.TakeEpoch(0).size(), 3);
  EXPECT_EQ(Acknowledged(), 2u);
  buffer_.ForgetAcks();
  EXPECT_EQ(Acknowledged(), 2u);
}

TEST_F(ReceiveBufferTest, WhoWaitsForAnEpochHoldsNothingUp) {
  Records(1, 0, 2);
  buffer_.BeginWait();
  EXPECT_EQ(Acknowledged(), 1u);
  Records(2, 1, 2);
  EXPECT_EQ(Acknowledged(), 2u);
  Complete(3, 1);
  buffer_.EndWait();
  EXPECT_EQ(Acknowledged(), 0u);  // epoch 1 waits to be taken
  EXPECT_EQ(buffer_.TakeEpoch(0).size(), 2);
  EXPECT_EQ(buffer_.TakeEpoch(1).size(), 2);
  EXPECT_EQ(Acknowledged(), 3u);
}

TEST_F(ReceiveBufferTest, RecordsOfAnotherTypeAreRefused) {
  v1::FlowRecords records;
  records.set_number(1);
  EXPECT_THAT(buffer_.OnRecords(records, {Tensor::Of<float>({1}, {1})}).message(),
              HasSubstr("output 'out' came with 1 tensors instead of 2"));
}

}  // namespace
}  // namespace weir
