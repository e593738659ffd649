#include "tests/fuzz/worker_bench.h"

#include <utility>

#include "common/plan/frames.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

// Rows of x times two on every worker, then their sum over rows on rank 0.
constexpr char kFunctions[] = R"(
func @double(%begin: i64[], %x: f32[r,2]) -> (f32[r,2]) {
  %y = add(%x, %x) : f32[r,2]
  return %y
}
func @negate(%y: f32[n,2]) -> (f32[n,2]) {
  %z = negate(%y) : f32[n,2]
  return %z
}
)";

v1::Plan MakePlan() {
  v1::Plan plan;
  plan.set_program(kFunctions);
  auto value = [&plan](const char* name, v1::PlanValue::Placement placement) {
    v1::PlanValue* added = plan.add_values();
    added->set_name(name);
    added->set_type("f32[n,2]");
    added->set_placement(placement);
  };
  value("x", v1::PlanValue::PLACEMENT_FEED);
  value("y", v1::PlanValue::PLACEMENT_SPLIT);
  value("z", v1::PlanValue::PLACEMENT_ROOT);
  plan.add_inputs(0);
  plan.add_outputs(1);
  plan.add_outputs(2);
  v1::Step* rows = plan.add_steps();
  rows->set_function("double");
  rows->set_extent("n");
  rows->set_local("r");
  rows->add_operands()->set_part(v1::StepOperand::PART_ROWS);
  rows->add_outputs(1);
  v1::Step* whole = plan.add_steps();
  whole->set_function("negate");
  whole->add_operands()->set_value(1);
  whole->mutable_operands(0)->set_part(v1::StepOperand::PART_WHOLE);
  whole->add_outputs(2);
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
