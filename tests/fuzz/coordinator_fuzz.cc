// The coordinator's state machine against what a worker sends: the input is a message, which comes
// while a job runs on that worker and another.
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
  absl::StatusOr<FromWorker> decoded =
      DecodeFromWorker(FrameWithPayloads(std::string(View(data, size)), headers));
  if (!decoded.ok()) return 0;
  CoreHarness harness;
  const std::vector<SentToWorker> starts = Begin(&harness);
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
