// The coordinator's state machine against what a worker sends: the input is a message, which comes
// while two jobs run on that worker and another, one of which reads and writes a variable that the
// worker owns, and a client reads the variable.
#include <utility>

#include "common/plan/frames.h"
#include "server/jobs/core_test_harness.h"
#include "tests/fuzz/payloads.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

constexpr uint64_t kWorker = 1;

const google::protobuf::Message* Prototype() { return &v1::WorkerMessage::default_instance(); }

// A job of five rows that two workers have begun. Returns: what was sent to start it.
std::vector<SentToWorker> Begin(CoreHarness* harness) {
  harness->AddWorker(kWorker, "a");
  harness->AddWorker(2, "b");
  Require(harness->Submit("program", 5).ok(), "the job is accepted");
  harness->CompileAll();
  harness->LoadAll();
  std::vector<SentToWorker> starts = harness->TakeStarts();
  Require(starts.size() == 2, "both workers start");
  return starts;
}

void BeginWithVariable(CoreHarness* harness) {
  const auto made = harness->core.variables().Create("v", {}, "", CoreHarness::Rows(5, 0));
  Require(made.ok() && made->worker() == "a", "the first worker owns the variable");
  Submission submission;
  submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  submission.spec.mutable_program()->set_source("program");
  submission.spec.add_variable_inputs()->set_input("x");
  submission.spec.mutable_variable_inputs(0)->set_variable("v");
  submission.spec.add_variable_outputs()->set_variable("v");
  const auto accepted = harness->core.Submit(*Prepare(std::move(submission), Limits()));
  Require(accepted.ok() && harness->State(accepted->job.id()) == v1::Job::RUNNING, "it runs");
  harness->core.variables().Read("v", [](const auto&) {});
}

v1::WorkerMessage Finished() {
  CoreHarness harness;
  const std::vector<SentToWorker> starts = Begin(&harness);
  const v1::StartRun& run = starts[0].message.start_run();
  v1::WorkerMessage message;
  v1::RunFinished* finished = message.mutable_run_finished();
  finished->set_run_id(run.run_id());
  finished->mutable_counters()->set_kernel_launches(3);
  v1::Feed* rows = finished->add_results();
  rows->set_value(1);
  rows->set_first_row(run.feeds(0).first_row());
  *rows->mutable_header() = run.feeds(0).header();
  v1::Feed* scalar = finished->add_results();
  scalar->set_value(2);
  *scalar->mutable_header() = HeaderOf(Tensor::Scalar<float>(7));
  return message;
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {Finished().SerializeAsString()};
  v1::WorkerMessage message;
  message.mutable_register_()->set_name("a");
  message.mutable_register_()->set_incarnation(101);
  message.mutable_register_()->set_numerics_class("cpu");
  seeds.push_back(message.SerializeAsString());
  message.mutable_heartbeat()->set_resident_bytes(1 << 20);
  seeds.push_back(message.SerializeAsString());
  message.mutable_run_finished()->set_run_id(1);
  message.mutable_run_finished()->mutable_failure()->set_code(13);
  message.mutable_run_finished()->mutable_failure()->set_message("a node failed");
  seeds.push_back(message.SerializeAsString());
  message.mutable_log()->set_run_id(1);
  message.mutable_log()->set_text("hello");
  seeds.push_back(message.SerializeAsString());
  // Of the new value of the variable, and what the client and the job read of the old one.
  message.mutable_value_report()->set_id(2);
  seeds.push_back(message.SerializeAsString());
  for (uint64_t reader : {1, 2}) {
    message.mutable_value_report()->set_id(1);
    message.mutable_value_report()->set_reader(reader);
    *message.mutable_value_report()->mutable_header() = HeaderOf(CoreHarness::Rows(5, 0));
    seeds.push_back(message.SerializeAsString());
  }
  message.mutable_value_report()->mutable_failure()->set_code(5);
  seeds.push_back(message.SerializeAsString());
  message.mutable_peer_lost()->set_worker_id(2);
  seeds.push_back(message.SerializeAsString());
  message.mutable_draining();
  seeds.push_back(message.SerializeAsString());
  message.mutable_program_loaded()->set_program_id(1);
  seeds.push_back(message.SerializeAsString());
  return seeds;
}

}  // namespace

WEIR_FUZZ_TARGET(coordinator, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::WorkerMessage message;
  message.ParseFromArray(data, static_cast<int>(size));
  std::vector<v1::TensorHeader> headers;
  for (const v1::Feed& feed : message.run_finished().results()) headers.push_back(feed.header());
  const v1::ValueReport& report = message.value_report();
  if (report.reader() != 0 && !report.has_failure()) headers.push_back(report.header());
  absl::StatusOr<FromWorker> decoded =
      DecodeFromWorker(FrameWithPayloads(std::string(View(data, size)), headers));
  if (!decoded.ok()) return 0;
  CoreHarness harness;
  const std::vector<SentToWorker> starts = Begin(&harness);
  BeginWithVariable(&harness);
  harness.core.OnWorkerMessage(kWorker, decoded->message, decoded->payloads);
  harness.FinishRun(starts[1]);
  harness.core.OnWorkerMessage(kWorker, decoded->message, std::move(decoded->payloads));
  harness.core.OnTick();
  harness.core.OnWorkerClosed(kWorker, absl::UnavailableError("gone"));
  harness.clock.Advance(absl::Seconds(5));
  harness.core.OnTick();
  harness.core.FailAll(absl::CancelledError("the end"));
  Require(harness.core.idle(), "every job has ended");
  return 0;
}

}  // namespace weir
