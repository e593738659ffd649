#include "tests/fuzz/worker_bench.h"

#include <utility>

#include "common/plan/frames.h"
#include "google/protobuf/text_format.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

// Rows of x times two on every worker, then their sum over rows on rank 0, and a loop that doubles
// the rows as long as rank 0 says so, which looks at all of them.
constexpr char kPlan[] = R"(
  program: "func @double(%begin: i64[], %x: f32[r,2]) -> (f32[r,2]) {"
    "  %y = add(%x, %x) return %y }"
    " func @negate(%y: f32[n,2]) -> (f32[n,2]) { %z = negate(%y) return %z }"
    " func @more(%c: f32[n,2]) -> (bool[]) {"
    "  %all = reduce_sum(%c) {axes = [0, 1]} %more = less(%all, %all) return %more }"
  values { name: "x" type: "f32[n,2]" placement: PLACEMENT_FEED }
  values { name: "y" type: "f32[n,2]" placement: PLACEMENT_SPLIT }
  values { name: "z" type: "f32[n,2]" placement: PLACEMENT_ROOT }
  values { name: "c" type: "f32[n,2]" placement: PLACEMENT_SPLIT }
  values { name: "more" type: "bool[]" placement: PLACEMENT_ROOT }
  values { name: "d" type: "f32[n,2]" placement: PLACEMENT_SPLIT }
  values { name: "e" type: "f32[n,2]" placement: PLACEMENT_SPLIT }
  inputs: 0 outputs: [1, 2, 6]
  steps { function: "double" extent: "n" local: "r" outputs: 1
          operands { value: 0 part: PART_ROWS } }
  steps { function: "negate" outputs: 2 operands { value: 1 part: PART_WHOLE } }
  steps { control: CONTROL_ENTER outputs: 3 operands { value: 1 part: PART_ROWS } }
  steps { function: "more" outputs: 4 operands { value: 3 part: PART_WHOLE } }
  steps { control: CONTROL_TEST operands { value: 4 part: PART_WHOLE } }
  steps { function: "double" extent: "n" local: "r" outputs: 5
          operands { value: 3 part: PART_ROWS } }
  steps { control: CONTROL_REPEAT outputs: 3 operands { value: 5 part: PART_ROWS } }
  steps { control: CONTROL_LEAVE outputs: 6 operands { value: 3 part: PART_ROWS } })";

v1::Plan MakePlan() {
  v1::Plan plan;
  Require(google::protobuf::TextFormat::ParseFromString(kPlan, &plan), "the plan can be read");
  return plan;
}

Tensor Rows(int64_t rows) { return Tensor::Zeros(DType::kF32, {rows, 2}); }

}  // namespace

std::vector<v1::CoordinatorMessage> WorkerBench::Script() {
  std::vector<v1::CoordinatorMessage> script(4);
  v1::Registered* registered = script[0].mutable_registered();
  registered->set_worker_id(1);
  registered->set_heartbeat_ms(500);
  registered->set_fence_ms(2000);
  script[1].mutable_load_program()->set_program_id(kProgram);
  *script[1].mutable_load_program()->mutable_plan() = MakePlan();
  v1::StartRun* start = script[2].mutable_start_run();
  start->set_run_id(kRun);
  start->set_program_id(kProgram);
  for (uint64_t id : {1, 2}) start->add_peers()->set_worker_id(id);
  (*start->mutable_symbols())["n"] = 5;
  *start->add_feeds()->mutable_header() = HeaderOf(Rows(2));
  v1::ValueOrders* values = script[3].mutable_values();
  v1::NewValue* stored = values->add_stores();
  stored->set_id(kValue);
  *stored->mutable_header() = HeaderOf(Rows(2));
  v1::NewValue* expected = values->add_expects();
  expected->set_id(kExpected);
  *expected->mutable_header() = HeaderOf(Rows(5));
  return script;
}

WorkerBench::WorkerBench() : core("fuzz", this) {
  for (const v1::CoordinatorMessage& message : Script()) {
    std::vector<Tensor> payloads;
    if (message.has_start_run() || message.has_values()) payloads.push_back(Rows(2));
    core.OnCoordinatorMessage(message, std::move(payloads), now);
    for (const std::shared_ptr<Program>& program : std::exchange(preparing_, {})) {
      const absl::Status status = PrepareProgram(program.get());
      Require(status.ok(), status.ToString());
      core.OnProgramReady(program->id, status);
    }
  }
  Require(executing_.size() == 1, "the first step is to be executed");
}

void WorkerBench::FinishSteps() {
  for (const std::shared_ptr<Program>& program : std::exchange(preparing_, {})) {
    core.OnProgramReady(program->id, PrepareProgram(program.get()));
  }
  std::vector<StepTask> tasks = std::exchange(executing_, {});
  for (size_t i = 0; i < tasks.size(); ++i) {
    absl::StatusOr<std::vector<Tensor>> outputs = absl::InternalError("not executed");
    if (i == 0) outputs = std::vector<Tensor>{Rows(2)};
    core.OnStepDone(tasks[i].run_id, tasks[i].step, std::move(outputs), {});
  }
}

void WorkerBench::End() {
  FinishSteps();
  now += absl::Seconds(1);
  core.OnTick(now, 1);
  core.OnPeerLost(2, absl::UnavailableError("gone"));
  core.Drain();
  core.OnCoordinatorLost(absl::UnavailableError("gone"));
}

void WorkerBench::SendToCoordinator(const v1::WorkerMessage& message,
                                    std::vector<Tensor> payloads) {
  Require(DecodeFromWorker(EncodeFrame(message, payloads)).ok(), "what is sent can be read");
}

void WorkerBench::SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                             std::vector<Tensor> payloads) {
  Require(DecodeFromPeer(EncodeFrame(message, payloads)).ok(), "what is sent can be read");
}

void WorkerBench::Prepare(std::shared_ptr<Program> program) {
  preparing_.push_back(std::move(program));
}

void WorkerBench::Execute(StepTask task) { executing_.push_back(std::move(task)); }

}  // namespace weir
