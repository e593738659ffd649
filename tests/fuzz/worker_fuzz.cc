// A worker's state machine against what a coordinator sends: the input is a message, which comes to
// a worker with one program loaded and one run under way.
#include <utility>

#include "common/plan/frames.h"
#include "tests/fuzz/payloads.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/worker_bench.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::CoordinatorMessage::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const v1::CoordinatorMessage& message : WorkerBench::Script()) {
    seeds.push_back(message.SerializeAsString());
  }
  v1::CoordinatorMessage message;
  message.mutable_cancel_run()->set_run_id(WorkerBench::kRun);
  seeds.push_back(message.SerializeAsString());
  message.mutable_unload_program()->set_program_id(WorkerBench::kProgram);
  seeds.push_back(message.SerializeAsString());
  v1::ValueOrders* values = message.mutable_values();
  for (int to = 0; to < 3; ++to) values->add_hands()->set_id(WorkerBench::kValue);
  values->mutable_hands(0)->set_reader(1);
  values->mutable_hands(1)->set_new_id(WorkerBench::kExpected + 1);
  values->mutable_hands(1)->mutable_peer()->set_worker_id(1);
  v1::RunFeed* feed = values->mutable_hands(2)->mutable_feed();
  feed->set_run_id(WorkerBench::kRun);
  feed->mutable_rows()->set_first(0);
  feed->mutable_rows()->set_count(1);
  values->mutable_hands(2)->mutable_peer()->set_worker_id(2);
  values->add_drops(WorkerBench::kValue);
  seeds.push_back(message.SerializeAsString());
  message.mutable_refused()->set_reason("numerics");
  seeds.push_back(message.SerializeAsString());
  message.mutable_probe();
  seeds.push_back(message.SerializeAsString());
  return seeds;
}

std::vector<v1::TensorHeader> HeadersOf(const v1::CoordinatorMessage& message) {
  std::vector<v1::TensorHeader> headers;
  if (message.has_load_program()) {
    headers.assign(message.load_program().blob_headers().begin(),
                   message.load_program().blob_headers().end());
  }
  for (const v1::Feed& feed : message.start_run().feeds()) headers.push_back(feed.header());
  for (const v1::NewValue& value : message.values().stores()) headers.push_back(value.header());
  return headers;
}

}  // namespace

WEIR_FUZZ_TARGET(worker, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::CoordinatorMessage message;
  message.ParseFromArray(data, static_cast<int>(size));
  absl::StatusOr<FromCoordinator> decoded =
      DecodeFromCoordinator(FrameWithPayloads(std::string(View(data, size)), HeadersOf(message)));
  if (!decoded.ok()) return 0;
  WorkerBench bench;
  bench.core.OnCoordinatorMessage(decoded->message, decoded->payloads, bench.now);
  bench.FinishSteps();
  bench.core.OnCoordinatorMessage(decoded->message, std::move(decoded->payloads), bench.now);
  bench.End();
  return 0;
}

}  // namespace weir
