// A worker's flows in the middle of their work, for targets that send them messages: rank 0 of two
// workers, one flow with a loop, which has its first frontiers, records and a frame of the other
// worker. Thread-compatible.
#ifndef WEIR_TESTS_FUZZ_FLOW_WORKER_BENCH_H_
#define WEIR_TESTS_FUZZ_FLOW_WORKER_BENCH_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/flow/flow_table.h"

namespace weir {

class FlowWorkerBench : public FlowTableOutbox {
 public:
  static constexpr uint64_t kJob = 31;
  static constexpr uint64_t kGeneration = 2;

  // What the coordinator and the other worker send, in order; the flow is deployed by the first
  // one.
  static std::vector<v1::CoordinatorMessage> Script();
  static std::vector<v1::PeerMessage> PeerScript();

  FlowWorkerBench();

  void Take(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads);
  void Take(const v1::PeerMessage& message, std::vector<Tensor> payloads);
  // Does what there is to do, within bounds: a loop may go on for ever.
  void Work();
  // Ticks, stops the flow, and checks that nothing is left of it.
  void End();

  // --- FlowTableOutbox
  void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor> payloads) override;
  void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                  std::vector<Tensor> payloads) override;
  void RunCall(std::unique_ptr<FlowCall> call) override;
  void WorkSoon() override { has_work_ = true; }

 private:
  absl::Time now_ = absl::UnixEpoch();
  FlowTable table_;
  std::vector<std::unique_ptr<FlowCall>> calls_;
  bool has_work_ = false;
};

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_FLOW_WORKER_BENCH_H_
