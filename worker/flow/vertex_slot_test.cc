#include "worker/flow/vertex_slot.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace weir {
namespace {

FlowVertex TwoInputs() {
  FlowVertex vertex = {.name = "v", .kind = "concat"};
  vertex.inputs.resize(2);
  vertex.input_types.resize(2, {{DType::kI64, Shape()}});
  return vertex;
}

RecordBatch Records(const std::vector<int64_t>& values) {
  const auto rows = static_cast<int64_t>(values.size());
  return MakeBatch({Tensor::FromSpan<int64_t>({rows}, values)});
}

std::vector<int64_t> ValuesOf(const FlowCall& call) {
  const int64_t* values = call.batch.columns[0].data<int64_t>();
  return {values, values + call.batch.size()};
}

TEST(VertexSlot, FramesOfOneTimeThatWaitNearEachOtherAreTakenTogether) {
  const FlowVertex def = TwoInputs();
  VertexSlot slot(VertexId(0), def, nullptr, nullptr);
  ASSERT_TRUE(slot.AddFrame(0, {0, 5}, Records({1, 2}), 0).ok());
  ASSERT_TRUE(slot.AddFrame(1, {0, 5}, Records({9}), 2).ok());
  ASSERT_TRUE(slot.AddFrame(0, {1, 3}, Records({3}), 0).ok());
  ASSERT_TRUE(slot.AddFrame(0, {0, 5}, Records({4}), 1).ok());
  ASSERT_TRUE(slot.AddFrame(0, {1, 3}, Records({5}), 0).ok());
  const auto first = slot.TakeFrames();
  EXPECT_EQ(first->activation.time(), Timestamp({0, 5}));
  EXPECT_EQ(ValuesOf(*first), (std::vector<int64_t>{1, 2, 4}));
  ASSERT_EQ(first->frames.size(), 2u);
  EXPECT_EQ(first->frames[1].from_rank, 1);
  const auto other_input = slot.TakeFrames();
  EXPECT_EQ(other_input->input, 1);
  EXPECT_EQ(ValuesOf(*other_input), std::vector<int64_t>{9});
  const auto second = slot.TakeFrames();
  EXPECT_EQ(second->activation.time(), Timestamp({1, 3}));
  EXPECT_EQ(ValuesOf(*second), (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(slot.queued_bytes(), 0);
  EXPECT_EQ(slot.TakeFrames(), nullptr);
}

// What is far behind waits, and a call takes no more than 64 Ki records but for a larger frame.
TEST(VertexSlot, ACallTakesNoMoreThanItShould) {
  const FlowVertex def = TwoInputs();
  VertexSlot slot(VertexId(0), def, nullptr, nullptr);
  ASSERT_TRUE(slot.AddFrame(0, {0}, Records({1}), 0).ok());
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(slot.AddFrame(0, {1 + i % 2}, Records({i}), 0).ok());
  }
  ASSERT_TRUE(slot.AddFrame(0, {0}, Records({2}), 0).ok());
  EXPECT_EQ(ValuesOf(*slot.TakeFrames()), std::vector<int64_t>{1});
  int64_t records = 0;
  while (const auto call = slot.TakeFrames()) records += call->batch.size();
  EXPECT_EQ(records, 1001);

  const std::vector<int64_t> many(40 << 10, 7);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(slot.AddFrame(0, {0}, Records(many), 0).ok());
  }
  EXPECT_EQ(slot.TakeFrames()->frames.size(), 1u);
  ASSERT_TRUE(slot.AddFrame(0, {0}, Records(std::vector<int64_t>(100 << 10, 7)), 0).ok());
  EXPECT_EQ(slot.TakeFrames()->frames.size(), 1u);
  EXPECT_EQ(slot.TakeFrames()->frames.size(), 1u);
  EXPECT_EQ(slot.TakeFrames()->batch.size(), 100 << 10);
}

}  // namespace
}  // namespace weir
