// A worker's state machine against what another worker sends: the input is a message, which comes
// to a worker with one program loaded and one run under way.
#include <utility>

#include "common/plan/frames.h"
#include "tests/fuzz/payloads.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/worker_bench.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::PeerMessage::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  v1::PeerMessage message;
  message.mutable_hello()->set_worker_id(2);
  seeds.push_back(message.SerializeAsString());
  for (const auto& [value, version] : {std::pair(0, 0), {1, 0}, {2, 0}, {3, 0}, {3, 1}}) {
    v1::Rows* rows = message.mutable_rows();
    rows->set_run_id(WorkerBench::kRun);
    rows->set_value(static_cast<uint32_t>(value));
    rows->set_version(static_cast<uint64_t>(version));
    rows->set_first_row(2);
    rows->set_from_rank(1);
    *rows->mutable_header() = HeaderOf(Tensor(DType::kF32, {3, 2}));
    seeds.push_back(message.SerializeAsString());
  }
  message.mutable_value_rows()->set_id(WorkerBench::kExpected);
  message.mutable_value_rows()->set_first_row(2);
  *message.mutable_value_rows()->mutable_header() = HeaderOf(Tensor(DType::kF32, {3, 2}));
  seeds.push_back(message.SerializeAsString());
  message.mutable_abort()->set_run_id(WorkerBench::kRun);
  message.mutable_abort()->mutable_failure()->set_code(10);
  message.mutable_abort()->mutable_failure()->set_message("lost");
  seeds.push_back(message.SerializeAsString());
  return seeds;
}

}  // namespace

WEIR_FUZZ_TARGET(peer, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::PeerMessage message;
  message.ParseFromArray(data, static_cast<int>(size));
  std::vector<v1::TensorHeader> headers;
  if (message.has_rows()) headers.push_back(message.rows().header());
  if (message.has_value_rows()) headers.push_back(message.value_rows().header());
  absl::StatusOr<FromPeer> decoded =
      DecodeFromPeer(FrameWithPayloads(std::string(View(data, size)), headers));
  if (!decoded.ok()) return 0;
  WorkerBench bench;
  bench.core.OnPeerMessage(decoded->message, decoded->payloads);
  bench.FinishSteps();
  bench.core.OnPeerMessage(decoded->message, std::move(decoded->payloads));
  bench.End();
  return 0;
}

}  // namespace weir
