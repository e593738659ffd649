// The values of variables on two worker cores driven by hand: messages between them are carried by
// the test, steps run through the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/plan/frames.h"
#include "google/protobuf/text_format.h"
#include "worker/dataflow/worker_core.h"

namespace weir {
namespace {

using testing::HasSubstr;

// y = x + w by rows, on every worker; the results are y, and v = w + w, made by the first.
constexpr char kPlan[] = R"(
  program: "func @add(%first: i64[], %x: f32[m], %w: f32[]) -> (f32[m]) {"
    "   %b = broadcast_in_dim(%w) {shape = (m), axes = []} %y = add(%x, %b) return %y }"
    " func @double(%w: f32[]) -> (f32[]) { %v = add(%w, %w) return %v }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "w" type: "f32[]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "v" type: "f32[]" placement: PLACEMENT_ROOT }
  steps { function: "add" extent: "n" local: "m" outputs: 2
          operands { value: 0 part: PART_ROWS } operands { value: 1 part: PART_WHOLE } }
  steps { function: "double" outputs: 3 operands { value: 1 part: PART_WHOLE } }
  inputs: 0 inputs: 1 outputs: 2 outputs: 3)";

class ValueWorld;

class ValueOutbox : public WorkerOutbox {
 public:
  ValueOutbox(ValueWorld* world, int rank) : world_(world), rank_(rank) {}
  void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor> payloads) override {
    sent.push_back({message, std::move(payloads)});
  }
  void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                  std::vector<Tensor> payloads) override;
  void Prepare(std::shared_ptr<Program> program) override;
  void Execute(StepTask task) override;

  struct Sent {
    v1::WorkerMessage message;
    std::vector<Tensor> payloads;
  };
  // Returns: the reports of value `id` so far.
  std::vector<Sent> Reports(uint64_t id) const {
    std::vector<Sent> reports;
    for (const Sent& each : sent) {
      if (each.message.value_report().id() == id) reports.push_back(each);
    }
    return reports;
  }
  const Sent* Finished() const {
    for (const Sent& each : sent) {
      if (each.message.has_run_finished()) return &each;
    }
    return nullptr;
  }

  std::deque<Sent> sent;

 private:
  ValueWorld* world_;
  int rank_;
};

class ValueWorld {
 public:
  ValueWorld() {
    for (int rank = 0; rank < 2; ++rank) {
      outboxes.push_back(std::make_unique<ValueOutbox>(this, rank));
      cores.push_back(std::make_unique<WorkerCore>(StrCat("w", rank), outboxes.back().get(),
                                                   WorkerCore::Options{.values = stores[rank]}));
      v1::CoordinatorMessage message;
      message.mutable_registered()->set_worker_id(static_cast<uint64_t>(rank) + 1);
      message.mutable_registered()->set_fence_ms(2000);
      Tell(rank, message);
    }
    v1::CoordinatorMessage load;
    load.mutable_load_program()->set_program_id(1);
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        kPlan, load.mutable_load_program()->mutable_plan()));
    for (int rank = 0; rank < 2; ++rank) Tell(rank, load);
    RunEvents();
  }

  void Tell(int rank, const v1::CoordinatorMessage& message, std::vector<Tensor> payloads = {}) {
    cores[rank]->OnCoordinatorMessage(message, std::move(payloads), absl::UnixEpoch());
  }
  void Order(int rank, const std::string& orders, std::vector<Tensor> payloads = {}) {
    v1::CoordinatorMessage message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(orders, message.mutable_values()));
    Tell(rank, message, std::move(payloads));
  }

  // Run 5 over two rows, of which x are given; `stores` are of StartRun.
  void StartRun(int rank, const Tensor& x, const std::string& stores = "") {
    v1::CoordinatorMessage message;
    v1::StartRun* start = message.mutable_start_run();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(stores, start));
    start->set_run_id(5);
    start->set_program_id(1);
    start->set_rank(static_cast<uint32_t>(rank));
    for (uint64_t id : {1, 2}) {
      start->add_peers()->set_worker_id(id);
    }
    (*start->mutable_symbols())["n"] = 2;
    v1::Feed* feed = start->add_feeds();
    feed->set_first_row(rank);
    *feed->mutable_header() = HeaderOf(x);
    Tell(rank, message, {x});
  }

  void RunEvents() {
    while (!events.empty()) {
      auto event = std::move(events.front());
      events.pop_front();
      event();
    }
  }

  std::vector<std::shared_ptr<ValueStore>> stores = {std::make_shared<ValueStore>(),
                                                     std::make_shared<ValueStore>()};
  std::vector<std::unique_ptr<ValueOutbox>> outboxes;
  std::vector<std::unique_ptr<WorkerCore>> cores;
  std::deque<std::function<void()>> events;
};

void ValueOutbox::SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                             std::vector<Tensor> payloads) {
  // Over the frame that a link carries.
  const Frame frame = EncodeFrame(message, payloads);
  WorkerCore* core = world_->cores[peer.worker_id() - 1].get();
  world_->events.push_back([=] {
    absl::StatusOr<FromPeer> decoded = DecodeFromPeer(frame);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    core->OnPeerMessage(decoded->message, std::move(decoded->payloads));
  });
}

void ValueOutbox::Prepare(std::shared_ptr<Program> program) {
  const absl::Status prepared = PrepareProgram(program.get());
  ASSERT_TRUE(prepared.ok()) << prepared;
  WorkerCore* core = world_->cores[rank_].get();
  world_->events.push_back([=] { core->OnProgramReady(program->id, absl::OkStatus()); });
}

void ValueOutbox::Execute(StepTask task) {
  WorkerCore* core = world_->cores[rank_].get();
  const v1::Step& step = task.program->plan.steps(task.step);
  InterpretOptions options;
  options.symbols = task.symbols;
  options.symbols["m"] = task.range.size();
  std::vector<Tensor> operands;
  if (!step.extent().empty()) operands.push_back(Tensor::Scalar<int64_t>(task.range.begin));
  operands.insert(operands.end(), task.operands.begin(), task.operands.end());
  absl::StatusOr<std::vector<Tensor>> outputs =
      InterpretFunction(*task.program->graph, step.function(), operands, options);
  const uint64_t run = task.run_id;
  const int index = task.step;
  world_->events.push_back([=] { core->OnStepDone(run, index, outputs, {}); });
}

// "stores { id: ID header {...} }" of a scalar f32.
std::string StoreOrder(uint64_t id) {
  v1::ValueOrders orders;
  orders.add_stores()->set_id(id);
  *orders.mutable_stores(0)->mutable_header() = HeaderOf(Tensor::Scalar<float>(0));
  return orders.DebugString();
}
std::string ExpectOrder(uint64_t id, const Tensor& type) {
  v1::ValueOrders orders;
  orders.add_expects()->set_id(id);
  *orders.mutable_expects(0)->mutable_header() = HeaderOf(type);
  return orders.DebugString();
}

TEST(WorkerValuesTest, AnOwnerHandsItsValueToRanksAndTakesTheNewOne) {
  ValueWorld world;
  world.Order(1, StoreOrder(7), {Tensor::Scalar<float>(10)});
  world.Order(1, ExpectOrder(8, Tensor::Scalar<float>(0)) + R"(
      hands { id: 7 feed { run_id: 5 value: 1 } peer { worker_id: 1 } }
      hands { id: 7 feed { run_id: 5 value: 1 } peer { worker_id: 2 } })");
  const std::string stores = "stores { output: 1 id: 8 owner { worker_id: 2 } }";
  world.RunEvents();  // the value is there before the run begins
  world.StartRun(0, Tensor::Of<float>({1}, {1}), stores);
  world.StartRun(1, Tensor::Of<float>({1}, {2}), stores);
  world.RunEvents();
  for (int rank = 0; rank < 2; ++rank) {
    const ValueOutbox::Sent* finished = world.outboxes[rank]->Finished();
    ASSERT_NE(finished, nullptr);
    ASSERT_FALSE(finished->message.run_finished().has_failure())
        << finished->message.run_finished().failure().message();
    // y goes to the coordinator, v does not.
    ASSERT_EQ(finished->payloads.size(), 1u);
    EXPECT_EQ(finished->message.run_finished().results(0).value(), 2u);
    EXPECT_EQ(finished->payloads[0].At<float>({0}), 11.0f + static_cast<float>(rank));
  }
  EXPECT_EQ(world.outboxes[1]->Reports(8).size(), 1u);
  EXPECT_TRUE(world.outboxes[0]->Reports(8).empty());
  EXPECT_EQ(world.stores[1]->Get(8)->At<float>({}), 20);
  EXPECT_EQ(world.stores[1]->Get(7)->At<float>({}), 10);
  EXPECT_TRUE(world.stores[0]->empty());
  world.Order(1, "drops: [7, 8]");
  EXPECT_TRUE(world.stores[1]->empty());
}

TEST(WorkerValuesTest, RowsOfAllRanksMakeOneValue) {
  ValueWorld world;
  world.Order(0, StoreOrder(7), {Tensor::Scalar<float>(10)});
  world.Order(0, ExpectOrder(8, Tensor(DType::kF32, {2})) + R"(
      hands { id: 7 feed { run_id: 5 value: 1 } peer { worker_id: 1 } }
      hands { id: 7 feed { run_id: 5 value: 1 } peer { worker_id: 2 } })");
  for (int rank : {1, 0}) {
    world.StartRun(rank, Tensor::Of<float>({1}, {1}),
                   "stores { output: 0 id: 8 owner { worker_id: 1 } }");
  }
  world.RunEvents();
  EXPECT_TRUE(world.stores[0]->Get(8)->BitEquals(Tensor::Of<float>({2}, {11, 11})));
  EXPECT_EQ(world.outboxes[0]->Reports(8).size(), 1u);
}

TEST(WorkerValuesTest, AReaderGetsACopyAndAPeerTheValue) {
  ValueWorld world;
  const Tensor given = Tensor::Scalar<float>(10);
  world.Order(0, StoreOrder(7), {given});
  EXPECT_NE(world.stores[0]->Get(7)->buffer(), given.buffer());
  world.Order(0, "hands { id: 7 reader: 3 } hands { id: 7 new_id: 9 peer { worker_id: 2 } }");
  world.Order(1, ExpectOrder(9, given));
  world.RunEvents();
  const std::vector<ValueOutbox::Sent> answers = world.outboxes[0]->Reports(7);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].message.value_report().reader(), 3u);
  EXPECT_NE(answers[0].payloads[0].buffer(), world.stores[0]->Get(7)->buffer());
  EXPECT_EQ(answers[0].payloads[0].At<float>({}), 10);
  EXPECT_EQ(world.outboxes[1]->Reports(9).size(), 1u);
  EXPECT_EQ(world.stores[1]->Get(9)->At<float>({}), 10);
}

TEST(WorkerValuesTest, WhatCannotBeDoneIsReported) {
  ValueWorld world;
  world.Order(0, "hands { id: 7 reader: 3 } hands { id: 6 new_id: 9 peer { worker_id: 2 } }");
  for (uint64_t id : {7, 6}) {
    const std::vector<ValueOutbox::Sent> answers = world.outboxes[0]->Reports(id);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_THAT(answers[0].message.value_report().failure().message(),
                HasSubstr(StrCat("worker w0 has no value ", id)));
    EXPECT_TRUE(answers[0].payloads.empty());
  }
  world.Order(0, StoreOrder(7), {Tensor::Scalar<float>(10)});
  world.outboxes[0]->sent.clear();
  world.Order(0, R"(hands { id: 7 feed { run_id: 5 value: 1 rows { first: 0 count: 1 } }
                            peer { worker_id: 2 } })");
  EXPECT_THAT(world.outboxes[0]->Reports(7).at(0).message.value_report().failure().message(),
              HasSubstr("wants 1 rows"));
  world.Order(0, "expects { id: 11 header { dtype: 999 } }");
  EXPECT_TRUE(world.outboxes[0]->Reports(11).at(0).message.value_report().has_failure());
  world.cores[0]->OnPeerLost(2, absl::UnavailableError("refused"));
  EXPECT_EQ(world.outboxes[0]->sent.back().message.peer_lost().worker_id(), 2u);
}

TEST(WorkerValuesTest, ADrainingWorkerStaysUntilItsValuesAreTaken) {
  ValueWorld world;
  world.Order(0, StoreOrder(7), {Tensor::Scalar<float>(10)});
  world.cores[0]->Drain();
  EXPECT_FALSE(world.cores[0]->drained());
  world.Order(0, "hands { id: 7 new_id: 9 peer { worker_id: 2 } }");
  EXPECT_FALSE(world.cores[0]->drained());
  world.Order(0, "drops: [7]");
  EXPECT_TRUE(world.cores[0]->drained());
}

TEST(WorkerValuesTest, ALostCoordinatorTakesTheValuesAlong) {
  ValueWorld world;
  world.Order(0, StoreOrder(7), {Tensor::Scalar<float>(10)});
  world.cores[0]->OnCoordinatorLost(absl::UnavailableError("gone"));
  EXPECT_TRUE(world.stores[0]->empty());
}

// One result is an input that a client gave, the other one that a variable gave.
TEST(WorkerValuesTest, VariablesAndClientsShareNoMemory) {
  ValueWorld world;
  v1::CoordinatorMessage load;
  load.mutable_load_program()->set_program_id(1);
  ASSERT_TRUE(
      google::protobuf::TextFormat::ParseFromString(R"(
    program: "func @same(%x: f32[2], %w: f32[2]) -> (f32[2], f32[2]) { return %x, %w }"
    values { name: "x" type: "f32[2]" placement: PLACEMENT_FEED }
    values { name: "w" type: "f32[2]" placement: PLACEMENT_FEED }
    values { name: "a" type: "f32[2]" placement: PLACEMENT_ROOT }
    values { name: "b" type: "f32[2]" placement: PLACEMENT_ROOT }
    steps { function: "same" outputs: 2 outputs: 3
            operands { value: 0 part: PART_WHOLE } operands { value: 1 part: PART_WHOLE } }
    inputs: 0 inputs: 1 outputs: 2 outputs: 3)",
                                                    load.mutable_load_program()->mutable_plan()));
  world.Tell(0, load);
  world.RunEvents();
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  world.stores[0]->Put(7, Tensor::Of<float>({2}, {3, 4}));
  world.Order(
      0, ExpectOrder(8, x) + "hands { id: 7 feed { run_id: 5 value: 1 } peer { worker_id: 1 } }");
  v1::CoordinatorMessage start;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      run_id: 5 program_id: 1 peers { worker_id: 1 } feeds { value: 0 }
      stores { output: 0 id: 8 owner { worker_id: 1 } })",
                                                            start.mutable_start_run()));
  *start.mutable_start_run()->mutable_feeds(0)->mutable_header() = HeaderOf(x);
  world.Tell(0, start, {x});
  world.RunEvents();
  const ValueOutbox::Sent* finished = world.outboxes[0]->Finished();
  ASSERT_NE(finished, nullptr);
  ASSERT_EQ(finished->payloads.size(), 1u) << finished->message.DebugString();
  EXPECT_TRUE(finished->payloads[0].BitEquals(Tensor::Of<float>({2}, {3, 4})));
  EXPECT_NE(finished->payloads[0].buffer(), world.stores[0]->Get(7)->buffer());
  EXPECT_TRUE(world.stores[0]->Get(8)->BitEquals(x));
  EXPECT_NE(world.stores[0]->Get(8)->buffer(), x.buffer());
}

}  // namespace
}  // namespace weir
