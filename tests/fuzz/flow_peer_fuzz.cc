// A worker's flows against what another worker sends: the input is a message, which comes twice to
// a worker with one flow under way.
#include <utility>

#include "common/plan/frames.h"
#include "tests/fuzz/flow_worker_bench.h"
#include "tests/fuzz/payloads.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::PeerMessage::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (v1::PeerMessage& message : FlowWorkerBench::PeerScript()) {
    if (message.has_flow_frame()) message.mutable_flow_frame()->set_number(2);
    seeds.push_back(message.SerializeAsString());
  }
  return seeds;
}

}  // namespace

WEIR_FUZZ_TARGET(flow_peer, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::PeerMessage message;
  message.ParseFromArray(data, static_cast<int>(size));
  std::vector<v1::TensorHeader> headers;
  if (message.has_flow_frame()) headers = HeadersOf(message.flow_frame().batch());
  absl::StatusOr<FromPeer> decoded =
      DecodeFromPeer(FrameWithPayloads(std::string(View(data, size)), headers));
  if (!decoded.ok()) return 0;
  FlowWorkerBench bench;
  bench.Take(decoded->message, decoded->payloads);
  bench.Work();
  bench.Take(decoded->message, std::move(decoded->payloads));
  bench.Work();
  bench.End();
  return 0;
}

}  // namespace weir
