#include "tests/fuzz/flow_worker_bench.h"

#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/flow_wire.h"
#include "common/flow/vertex_kind.h"
#include "common/plan/progress_wire.h"
#include "common/timely/reachability.h"
#include "common/timely/tracker.h"
#include "tests/fuzz/target.h"
#include "worker/flow/deploy.h"

namespace weir {
namespace {

constexpr char kFlow[] = R"(
flow @spread {
  loop @trips
  %in = input() {types = ["i64[]"]}
  %inside = enter(%in) {loop = "trips"}
  %all = concat(%inside, %again)
  %moved = exchange(%all) {keys = 1}
  %again = feedback(%moved) {bound = 3}
  %both = zip(%moved, %inside) {hold = [1]}
  %left = leave(%both)
  %out = output(%left)
}
)";

const Flow& TheFlow() {
  static const auto* flow = new Flow(*ParseFlow(kFlow));
  return *flow;
}

RecordBatch Records() { return MakeBatch({Tensor::Of<int64_t>({4}, {1, 2, 3, 4})}); }

template <class Message>
Message* Label(Message* message) {
  message->set_job(FlowWorkerBench::kJob);
  message->set_generation(FlowWorkerBench::kGeneration);
  return message;
}

v1::DeployFlow Deployment() {
  v1::DeployFlow deploy;
  Label(&deploy);
  deploy.set_flow(kFlow);
  for (int rank = 0; rank < 2; ++rank) {
    v1::Peer* peer = deploy.add_peers();
    peer->set_worker_id(static_cast<uint64_t>(rank) + 1);
    peer->set_name(rank == 0 ? "here" : "there");
  }
  const auto topology = *Topology::Of(GraphOf(TheFlow()));
  const Change grant = {{topology->output(VertexId(0), 0), {0}}, 1};
  Label(deploy.mutable_grants())->set_first_update(1);
  PackChanges({grant}, deploy.mutable_grants()->mutable_changes());
  deploy.mutable_limits()->set_channel_bytes(1 << 20);
  return deploy;
}

// Both workers hold the epoch at the source.
v1::FrontierUpdate FirstFrontiers() {
  const auto topology = *Topology::Of(GraphOf(TheFlow()));
  Tracker tracker(topology);
  tracker.Update(topology->output(VertexId(0), 0), {0}, 2);
  const absl::Span<const Change> changes = tracker.Propagate();
  v1::FrontierUpdate update = ToWire(FrontierUpdate{1, {changes.begin(), changes.end()}});
  return *Label(&update);
}

}  // namespace

std::vector<v1::CoordinatorMessage> FlowWorkerBench::Script() {
  std::vector<v1::CoordinatorMessage> script(5);
  *script[0].mutable_deploy_flow() = Deployment();
  *script[1].mutable_frontiers() = FirstFrontiers();
  v1::FeedFlow* feed = Label(script[2].mutable_feed_flow());
  *feed->mutable_batch() = HeaderOf(Records());
  v1::AdvanceFlow* advance = Label(script[3].mutable_advance_flow());
  advance->set_epoch(1);
  Label(script[4].mutable_flow_output_taken())
      ->set_vertex(static_cast<uint32_t>(TheFlow().FindVertex("out").value()));
  return script;
}

std::vector<v1::PeerMessage> FlowWorkerBench::PeerScript() {
  std::vector<v1::PeerMessage> script(2);
  v1::FlowFrame* frame = Label(script[0].mutable_flow_frame());
  frame->set_from_rank(1);
  frame->set_number(1);
  frame->set_vertex(static_cast<uint32_t>(TheFlow().FindVertex("moved").value()));
  *frame->mutable_time() = ToWire({0, 0});
  *frame->mutable_batch() = HeaderOf(Records());
  v1::FlowCredit* credit = Label(script[1].mutable_flow_credit());
  credit->set_from_rank(1);
  credit->set_vertex(frame->vertex());
  credit->set_bytes(16);
  return script;
}

FlowWorkerBench::FlowWorkerBench() : table_("here", 1, this) {
  const std::vector<v1::CoordinatorMessage> script = Script();
  Take(script[0], {});
  Take(script[1], {});
  Take(script[2], PayloadsOf(Records()));
  Take(PeerScript()[0], PayloadsOf(Records()));
  table_.Work(now_);
}

void FlowWorkerBench::Take(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads) {
  if (message.has_deploy_flow()) {
    const v1::DeployFlow& deploy = message.deploy_flow();
    table_.Deploy(deploy.job(), deploy.generation(),
                  SetupFrom(deploy, [](uint64_t) { return nullptr; }), now_);
  } else if (IsForFlow(message)) {
    table_.OnCoordinatorMessage(message, std::move(payloads), now_);
  }
}

void FlowWorkerBench::Take(const v1::PeerMessage& message, std::vector<Tensor> payloads) {
  if (IsForFlow(message)) table_.OnPeerMessage(message, std::move(payloads), now_);
}

void FlowWorkerBench::Work() {
  has_work_ = true;
  for (int turn = 0; turn < 20 && has_work_; ++turn) {
    has_work_ = false;
    table_.Work(now_);
    for (std::unique_ptr<FlowCall>& call : std::exchange(calls_, {})) {
      RunFlowCall(call.get());
      table_.OnCallDone(std::move(call), now_);
      has_work_ = true;
    }
  }
}

void FlowWorkerBench::End() {
  table_.OnTick(now_ + absl::Seconds(1));
  table_.OnPeerLost(2, absl::UnavailableError("gone"));
  Work();
  for (const uint64_t generation : {kGeneration, uint64_t{0}}) {
    v1::CoordinatorMessage stop;
    stop.mutable_stop_flow()->set_job(kJob);
    stop.mutable_stop_flow()->set_generation(generation);
    Take(stop, {});
  }
  Work();
  Require(table_.FindJob(kJob, kGeneration) == nullptr, "a flow is still here after StopFlow");
  table_.Clear();
}

void FlowWorkerBench::SendToCoordinator(const v1::WorkerMessage& message,
                                        std::vector<Tensor> payloads) {
  (void)message.SerializeAsString();
}

void FlowWorkerBench::SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                                 std::vector<Tensor> payloads) {
  (void)message.SerializeAsString();
}

void FlowWorkerBench::RunCall(std::unique_ptr<FlowCall> call) { calls_.push_back(std::move(call)); }

}  // namespace weir
