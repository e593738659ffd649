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

// A slot whose flow has memory for some frames only: what it is given goes to disk in calls, or at
// once where they are late, and comes back in its order, whether it was taken before, while or
// after it was written.
class SpillingSlot : public testing::Test {
 protected:
  static constexpr int64_t kBudget = 400'000;
  static constexpr int64_t kFrames = 150;
  static constexpr int64_t kFrameRecords = 300;

  void SetUp() override {
    const auto memory = FlowMemory::Make({.budget = kBudget});
    ASSERT_TRUE(memory.ok()) << memory.status();
    share_ = (*memory)->AddFlow();
    flow_->vertices = {TwoInputs()};
    slot_ = std::make_unique<VertexSlot>(VertexId(0), flow_->vertices[0], nullptr, share_);
    for (int64_t i = 0; i < kFrames; ++i) {
      const std::vector<int64_t> values(kFrameRecords, i);
      ASSERT_EQ(slot_->AddFrame(0, {i}, Records(values), 0), absl::OkStatus());
    }
  }

  void Run(FlowCall* call) {
    call->flow = flow_;
    call->memory = share_;
    RunFlowCall(call);
    ASSERT_EQ(call->status, absl::OkStatus());
  }
  // Takes the next frames, which must be those that were added next.
  void ExpectFrames(int64_t frames) {
    for (const int64_t end = next_ + frames; next_ < end; ++next_) {
      const auto call = slot_->TakeFrames();
      ASSERT_NE(call, nullptr);
      Run(call.get());
      EXPECT_EQ(call->activation.time(), Timestamp{next_});
      EXPECT_EQ(ValuesOf(*call), std::vector<int64_t>(kFrameRecords, next_));
    }
  }
  void ExpectNothingLeft() {
    EXPECT_EQ(slot_->TakeFrames(), nullptr);
    EXPECT_EQ(slot_->queued_bytes(), 0);
    EXPECT_EQ(slot_->queued_on_disk(), 0);
    EXPECT_EQ(share_->kept_bytes(), 0);
    EXPECT_EQ(share_->spilled_bytes(), 0);
  }

  const std::shared_ptr<Flow> flow_ = std::make_shared<Flow>();
  std::shared_ptr<FlowShare> share_;
  std::unique_ptr<VertexSlot> slot_;
  int64_t next_ = 0;
};

TEST_F(SpillingSlot, KeepsWhatItMayAndPutsTheRestOnDisk) {
  // Some had to be put there at once, others wait for a call.
  EXPECT_GT(share_->kept_bytes(), kBudget);
  EXPECT_LT(share_->kept_bytes(), kBudget + kBudget / 8 + 10'000);
  const int64_t at_once = slot_->queued_on_disk();
  EXPECT_GT(at_once, 0);
  EXPECT_TRUE(slot_->has_to_spill());
  while (auto call = slot_->TakeSpill()) {
    EXPECT_GT(call->queued.size(), 1u);
    Run(call.get());
    slot_->OnSpilled(call.get());
  }
  EXPECT_FALSE(slot_->has_to_spill());
  EXPECT_GT(slot_->queued_on_disk(), at_once);
  EXPECT_LE(share_->kept_bytes(), kBudget);
  EXPECT_EQ(share_->kept_bytes() + slot_->queued_on_disk(), slot_->queued_bytes());
  ExpectFrames(kFrames);
  ExpectNothingLeft();
}

TEST_F(SpillingSlot, FramesMayBeTakenWhileTheyAreWritten) {
  auto call = slot_->TakeSpill();
  ASSERT_NE(call, nullptr);
  ASSERT_GT(call->queued.size(), 2u);
  const auto first = static_cast<int64_t>(call->queued[0].number);
  ExpectFrames(first + 1);
  Run(call.get());
  slot_->OnSpilled(call.get());
  call.reset();
  ExpectFrames(kFrames - first - 1);
  ExpectNothingLeft();
}

TEST_F(SpillingSlot, FramesMayBeTakenBeforeTheyAreWritten) {
  ExpectFrames(kFrames);
  EXPECT_EQ(slot_->TakeSpill(), nullptr);
  EXPECT_FALSE(slot_->has_to_spill());
  ExpectNothingLeft();
}

}  // namespace
}  // namespace weir
