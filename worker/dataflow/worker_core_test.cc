// Two worker cores driven by hand: their messages are carried by the test, steps run through the
// interpreter.
#include "worker/dataflow/worker_core.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/plan/frames.h"
#include "common/tensor/compare.h"
#include "google/protobuf/text_format.h"

namespace weir {
namespace {

// y = x + x on every row, then z = y reversed over all rows, on every worker.
constexpr char kPlan[] = R"(
  program: "func @double(%first: i64[], %x: f32[m]) -> (f32[m]) { %y = add(%x, %x) return %y }"
    " func @mirror(%first: i64[], %y: f32[n], %x: f32[m]) -> (f32[m]) {"
    "   %r = reverse(%y) {axes = [0]}"
    "   %s = dynamic_slice(%r, %first) {sizes = (m)}"
    "   return %s }"
  values { name: "x" type: "f32[n]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n]" placement: PLACEMENT_SPLIT }
  values { name: "z" type: "f32[n]" placement: PLACEMENT_SPLIT }
  steps { function: "double" extent: "n" local: "m" outputs: 1
          operands { value: 0 part: PART_ROWS } }
  steps { function: "mirror" extent: "n" local: "m" outputs: 2
          operands { value: 1 part: PART_WHOLE } operands { value: 0 part: PART_ROWS } }
  inputs: 0 outputs: 2)";

class World;

class FakeOutbox : public WorkerOutbox {
 public:
  FakeOutbox(World* world, int rank) : world_(world), rank_(rank) {}
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
  std::deque<Sent> sent;
  std::vector<int64_t> budgets;  // of the tasks

  const v1::RunFinished* finished() const {
    for (const Sent& s : sent) {
      if (s.message.has_run_finished()) return &s.message.run_finished();
    }
    return nullptr;
  }

 private:
  World* world_;
  int rank_;
};

class World {
 public:
  explicit World(WorkerCore::Options options = {}) {
    for (int rank = 0; rank < 2; ++rank) {
      outboxes.push_back(std::make_unique<FakeOutbox>(this, rank));
      cores.push_back(
          std::make_unique<WorkerCore>(StrCat("w", rank), outboxes.back().get(), options));
      v1::CoordinatorMessage message;
      message.mutable_registered()->set_worker_id(static_cast<uint64_t>(rank) + 1);
      message.mutable_registered()->set_heartbeat_ms(500);
      message.mutable_registered()->set_fence_ms(2000);
      cores.back()->OnCoordinatorMessage(message, {}, now);
    }
    v1::CoordinatorMessage load;
    load.mutable_load_program()->set_program_id(1);
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        kPlan, load.mutable_load_program()->mutable_plan()));
    for (auto& core : cores) core->OnCoordinatorMessage(load, {}, now);
    RunEvents();
  }

  void StartRun(int rank, const Tensor& x, uint64_t run_id = 5, int64_t budget = 0) {
    v1::CoordinatorMessage message;
    v1::StartRun* start = message.mutable_start_run();
    start->set_run_id(run_id);
    start->set_program_id(1);
    start->set_rank(static_cast<uint32_t>(rank));
    start->set_memory_budget(budget);
    for (uint64_t id : {1, 2}) {
      v1::Peer* peer = start->add_peers();
      peer->set_worker_id(id);
      peer->set_name(StrCat("w", id - 1));
    }
    (*start->mutable_symbols())["n"] = x.extent(0);
    const RowRange range = RangeOf(x.extent(0), rank, 2);
    v1::Feed* feed = start->add_feeds();
    feed->set_first_row(range.begin);
    const Tensor rows = x.Rows(range.begin, range.end);
    *feed->mutable_header() = HeaderOf(rows);
    cores[rank]->OnCoordinatorMessage(message, {rows}, now);
  }

  void RunEvents() {
    while (!events.empty()) {
      auto event = std::move(events.front());
      events.pop_front();
      event();
    }
  }

  absl::Time now = absl::UnixEpoch();
  std::vector<std::unique_ptr<FakeOutbox>> outboxes;
  std::vector<std::unique_ptr<WorkerCore>> cores;
  std::deque<std::function<void()>> events;
};

void FakeOutbox::SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                            std::vector<Tensor> payloads) {
  WorkerCore* core = world_->cores[peer.worker_id() - 1].get();
  world_->events.push_back([=] { core->OnPeerMessage(message, payloads); });
}

void FakeOutbox::Prepare(std::shared_ptr<Program> program) {
  const absl::Status prepared = PrepareProgram(program.get());
  ASSERT_TRUE(prepared.ok()) << prepared;
  WorkerCore* core = world_->cores[rank_].get();
  world_->events.push_back([=] { core->OnProgramReady(program->id, absl::OkStatus()); });
}

void FakeOutbox::Execute(StepTask task) {
  WorkerCore* core = world_->cores[rank_].get();
  const v1::Step& step = task.program->plan.steps(task.step);
  budgets.push_back(task.memory_budget);
  InterpretOptions options;
  options.symbols = task.symbols;
  options.symbols["m"] = task.range.size();
  std::vector<Tensor> operands = {Tensor::Scalar<int64_t>(task.range.begin)};
  operands.insert(operands.end(), task.operands.begin(), task.operands.end());
  absl::StatusOr<std::vector<Tensor>> outputs =
      InterpretFunction(*task.program->graph, step.function(), operands, options);
  const uint64_t run = task.run_id;
  const int index = task.step;
  world_->events.push_back([=] { core->OnStepDone(run, index, outputs, {}); });
}

TEST(WorkerCoreTest, RowsGoStraightToWhoNeedsThem) {
  World world;
  const Tensor x = Tensor::Of<float>({5}, {1, 2, 3, 4, 5});
  world.StartRun(0, x);
  world.RunEvents();
  EXPECT_EQ(world.outboxes[0]->finished(), nullptr);  // waits for the rows of the other worker
  world.StartRun(1, x);                               // rows from rank 0 came before
  world.RunEvents();
  std::vector<float> z;
  for (int rank = 0; rank < 2; ++rank) {
    const v1::RunFinished* finished = world.outboxes[rank]->finished();
    ASSERT_NE(finished, nullptr);
    EXPECT_FALSE(finished->has_failure()) << finished->failure().message();
    ASSERT_EQ(finished->results_size(), 1);
    EXPECT_EQ(finished->results(0).first_row(), RangeOf(5, rank, 2).begin);
    EXPECT_GT(finished->counters().peer_bytes_sent(), 0);
    const Tensor rows = world.outboxes[rank]->sent.back().payloads[0].Contiguous();
    z.insert(z.end(), rows.data<float>(), rows.data<float>() + rows.num_elements());
  }
  EXPECT_EQ(z, (std::vector<float>{10, 8, 6, 4, 2}));
}

TEST(WorkerCoreTest, TheLesserOfTwoBudgetsHolds) {
  struct Case {
    int64_t of_worker, of_job, used;
  };
  for (const Case& each : {Case{0, 0, 0}, Case{10, 0, 10}, Case{0, 20, 20}, Case{10, 20, 10},
                           Case{30, 20, 20}, Case{30, -1, 30}}) {
    World world({.memory_budget = each.of_worker});
    world.StartRun(0, Tensor::Of<float>({2}, {1, 2}), 5, each.of_job);
    world.RunEvents();
    EXPECT_EQ(world.outboxes[0]->budgets, std::vector<int64_t>{each.used});
  }
}

TEST(WorkerCoreTest, AWorkerWithoutRowsMayComeAfterThoseOfTheOthers) {
  World world;
  const Tensor x = Tensor::Of<float>({1}, {3});
  world.StartRun(1, x);  // the only row is that of rank 1
  world.RunEvents();
  world.StartRun(0, x);
  world.RunEvents();
  for (int rank = 0; rank < 2; ++rank) {
    const v1::RunFinished* finished = world.outboxes[rank]->finished();
    ASSERT_NE(finished, nullptr);
    EXPECT_FALSE(finished->has_failure()) << finished->failure().message();
  }
}

TEST(WorkerCoreTest, RowsOfARunThatNeverStartsAreForgotten) {
  World world;
  const Tensor x = Tensor::Of<float>({5}, {1, 2, 3, 4, 5});
  world.StartRun(0, x, 5);  // was to start on the other worker too, but the coordinator gave it up
  world.RunEvents();
  EXPECT_EQ(world.cores[1]->awaited_runs(), 1u);
  world.StartRun(1, x, 6);
  EXPECT_EQ(world.cores[1]->awaited_runs(), 0u);
}

TEST(WorkerCoreTest, ALostPeerEndsTheRunsThatNeedIt) {
  World world;
  world.StartRun(0, Tensor::Of<float>({2}, {1, 2}));
  world.RunEvents();
  world.cores[0]->OnPeerLost(2, absl::UnavailableError("connection refused"));
  const v1::RunFinished* finished = world.outboxes[0]->finished();
  ASSERT_NE(finished, nullptr);
  EXPECT_EQ(finished->failure().message(), "worker w1 is lost: connection refused");
  EXPECT_EQ(finished->failure().worker(), "w0");
}

TEST(WorkerCoreTest, SilenceOfTheCoordinatorFencesTheWorker) {
  World world;
  EXPECT_TRUE(world.cores[0]->OnTick(world.now + absl::Seconds(1), 0));
  EXPECT_FALSE(world.cores[0]->OnTick(world.now + absl::Seconds(3), 0));
  EXPECT_FALSE(world.cores[0]->registered());
}

TEST(WorkerCoreTest, HeartbeatsComeOnTime) {
  World world;
  world.outboxes[0]->sent.clear();
  for (int ms = 0; ms <= 1900; ms += 100) {
    world.cores[0]->OnTick(world.now + absl::Milliseconds(ms), 7);
  }
  EXPECT_EQ(world.outboxes[0]->sent.size(), 4u);
  EXPECT_EQ(world.outboxes[0]->sent.front().message.heartbeat().resident_bytes(), 7u);
}

TEST(WorkerCoreTest, DrainingRefusesNewRunsAndEndsWithTheLast) {
  World world;
  world.StartRun(0, Tensor::Of<float>({2}, {1, 2}));
  world.cores[0]->Drain();
  EXPECT_FALSE(world.cores[0]->drained());
  world.StartRun(1, Tensor::Of<float>({2}, {1, 2}));
  world.RunEvents();
  EXPECT_TRUE(world.cores[0]->drained());
  world.cores[1]->Drain();
  world.outboxes[1]->sent.clear();
  world.StartRun(1, Tensor::Of<float>({2}, {1, 2}));
  ASSERT_NE(world.outboxes[1]->finished(), nullptr);
  EXPECT_EQ(world.outboxes[1]->finished()->failure().message(), "worker w1 is draining");
}

TEST(WorkerCoreTest, RowsThatDoNotFitFailTheRun) {
  World world;
  world.StartRun(0, Tensor::Of<float>({4}, {1, 2, 3, 4}));
  v1::PeerMessage message;
  message.mutable_rows()->set_run_id(5);
  message.mutable_rows()->set_value(1);
  message.mutable_rows()->set_first_row(3);
  world.cores[0]->OnPeerMessage(message, {Tensor::Zeros(DType::kF32, {2})});
  const v1::RunFinished* finished = world.outboxes[0]->finished();
  ASSERT_NE(finished, nullptr);
  EXPECT_EQ(finished->failure().message(), "rows for value y [4] from row 3, f32[2]: out of range");
}

}  // namespace
}  // namespace weir
