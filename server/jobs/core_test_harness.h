// A coordinator core whose world is a list of what it asked for; for tests.
#ifndef WEIR_SERVER_JOBS_CORE_TEST_HARNESS_H_
#define WEIR_SERVER_JOBS_CORE_TEST_HARNESS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/plan/frames.h"
#include "common/plan/printed.h"
#include "server/jobs/coordinator_core.h"

namespace weir {

// y = f(x) by rows, z = g(y) on rank 0; the results are y, z and x itself.
inline std::shared_ptr<CompiledProgram> TestProgram() {
  auto program = std::make_shared<CompiledProgram>();
  v1::Plan& plan = program->plan.plan;
  auto value = [&plan](const char* name, const char* type, v1::PlanValue::Placement placement) {
    v1::PlanValue* added = plan.add_values();
    added->set_name(name);
    added->set_type(type);
    added->set_placement(placement);
  };
  value("x", "f32[n,2]", v1::PlanValue::PLACEMENT_FEED);
  value("y", "f32[n,2]", v1::PlanValue::PLACEMENT_SPLIT);
  value("z", "f32[]", v1::PlanValue::PLACEMENT_ROOT);
  plan.add_inputs(0);
  for (uint32_t output : {1, 2, 0}) plan.add_outputs(output);
  v1::Step* shard = plan.add_steps();
  shard->set_extent("n");
  shard->add_outputs(1);
  shard->add_operands()->set_part(v1::StepOperand::PART_ROWS);
  v1::Step* root = plan.add_steps();
  root->add_outputs(2);
  root->add_operands()->set_value(1);
  root->mutable_operands(0)->set_part(v1::StepOperand::PART_WHOLE);
  program->plan.blobs["weights"] = Tensor::Of<float>({2}, {1, 2});
  program->plan.output_names = {"y", "z", "x"};
  program->inputs = {{"x", *TensorType::Parse("f32[n,2]"), true, ""}};
  program->sharded = true;
  program->compile_ns = 5;
  return program;
}

struct SentToWorker {
  uint64_t worker;
  v1::CoordinatorMessage message;
  std::vector<Tensor> payloads;
};

class CoreHarness : public CoordinatorOutbox {
 public:
  explicit CoreHarness(Limits limits = {})
      : core(
            limits, &clock, [this] { return "job-" + std::to_string(++jobs_); }, this) {}

  // --- CoordinatorOutbox
  void SendToWorker(uint64_t worker, const v1::CoordinatorMessage& message,
                    std::vector<Tensor> payloads) override {
    sent.push_back({worker, message, std::move(payloads)});
  }
  void CloseWorker(uint64_t worker, const absl::Status& reason) override {
    closed.push_back(worker);
  }
  void Compile(uint64_t program, const v1::Program& source) override {
    compiling.push_back(program);
  }
  void OnJob(const JobEntry& job, JobEvent event) override {
    if (event == JobEvent::kEnded) ended.push_back(job.view);
  }
  void Defer(std::function<void()> call) override { deferred.push_back(std::move(call)); }

  // --- What tests do.
  void AddWorker(uint64_t id, const std::string& name, const std::string& numerics = "cpu") {
    core.OnWorkerConnected(id);
    v1::WorkerMessage message;
    message.mutable_register_()->set_name(name);
    message.mutable_register_()->set_incarnation(100 + id);
    message.mutable_register_()->set_numerics_class(numerics);
    core.OnWorkerMessage(id, message, {});
  }

  absl::StatusOr<CoordinatorCore::Accepted> Submit(const std::string& source, int64_t rows,
                                                   const std::string& submission_id = "",
                                                   uint32_t workers = 0, uint32_t repeat = 0) {
    Submission submission;
    submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
    submission.spec.mutable_program()->set_source(source);
    submission.spec.set_submission_id(submission_id);
    submission.spec.set_workers(workers);
    submission.spec.set_repeat(repeat);
    submission.spec.add_input_names("x");
    submission.inputs = {Rows(rows, 0)};
    auto prepared = Prepare(std::move(submission), Limits());
    if (!prepared.ok()) return prepared.status();
    return core.Submit(*std::move(prepared));
  }

  void CompileAll() {
    for (uint64_t program : std::exchange(compiling, {})) {
      core.OnCompiled(program, std::shared_ptr<const CompiledProgram>(TestProgram()));
    }
  }

  void LoadAll() {
    for (SentToWorker& item : TakeSent()) {
      if (!item.message.has_load_program()) {
        sent.push_back(std::move(item));
        continue;
      }
      v1::WorkerMessage message;
      message.mutable_program_loaded()->set_program_id(item.message.load_program().program_id());
      core.OnWorkerMessage(item.worker, message, {});
    }
  }

  // Rows [first, first + count) of the feed that Submit makes.
  static Tensor Rows(int64_t count, int64_t first) {
    Tensor tensor(DType::kF32, {count, 2});
    for (int64_t i = 0; i < 2 * count; ++i) {
      tensor.mutable_data<float>()[i] = static_cast<float>(2 * first + i);
    }
    return tensor;
  }

  // What a worker answers that ran `start`: y = x, z = 7.
  void DrainWorker(uint64_t worker) {
    v1::WorkerMessage draining;
    draining.mutable_draining();
    core.OnWorkerMessage(worker, draining, {});
  }

  void FinishRun(const SentToWorker& start, int64_t kernel_launches = 3,
                 const PrintedLines& printed = {}) {
    const v1::StartRun& run = start.message.start_run();
    v1::WorkerMessage message;
    v1::RunFinished* finished = message.mutable_run_finished();
    finished->set_run_id(run.run_id());
    finished->mutable_counters()->set_kernel_launches(kernel_launches);
    AddPrinted(printed, finished);
    std::vector<Tensor> payloads;
    auto add = [&](uint32_t value, int64_t first_row, Tensor tensor) {
      v1::Feed* feed = finished->add_results();
      feed->set_value(value);
      feed->set_first_row(first_row);
      *feed->mutable_header() = HeaderOf(tensor);
      payloads.push_back(std::move(tensor));
    };
    add(1, run.feeds(0).first_row(), start.payloads[0]);
    if (run.rank() == 0) add(2, 0, Tensor::Scalar<float>(7));
    core.OnWorkerMessage(start.worker, message, std::move(payloads));
  }

  void FailRun(const SentToWorker& start, absl::StatusCode code, const std::string& text) {
    v1::WorkerMessage message;
    message.mutable_run_finished()->set_run_id(start.message.start_run().run_id());
    message.mutable_run_finished()->mutable_failure()->set_code(static_cast<uint32_t>(code));
    message.mutable_run_finished()->mutable_failure()->set_message(text);
    core.OnWorkerMessage(start.worker, message, {});
  }

  std::vector<SentToWorker> TakeSent() { return std::exchange(sent, {}); }
  std::vector<SentToWorker> TakeStarts() {
    std::vector<SentToWorker> starts;
    for (SentToWorker& item : TakeSent()) {
      if (item.message.has_start_run()) starts.push_back(std::move(item));
    }
    return starts;
  }

  const JobEntry& Job(const std::string& id) { return **core.Find(id); }
  v1::Job::State State(const std::string& id) { return Job(id).view.state(); }

  ManualClock clock;
  std::vector<SentToWorker> sent;
  std::vector<uint64_t> closed;
  std::vector<uint64_t> compiling;
  std::vector<v1::Job> ended;
  std::vector<std::function<void()>> deferred;
  CoordinatorCore core;

 private:
  int jobs_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_CORE_TEST_HARNESS_H_
