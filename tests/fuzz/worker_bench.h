// A worker's core in the middle of its work, for targets that send it messages: it is registered as
// rank 0 of two workers, holds one program and has begun a run of it. Thread-compatible.
#ifndef WEIR_TESTS_FUZZ_WORKER_BENCH_H_
#define WEIR_TESTS_FUZZ_WORKER_BENCH_H_

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "weir/v1/worker.pb.h"
#include "worker/dataflow/worker_core.h"

namespace weir {

class WorkerBench : public WorkerOutbox {
 public:
  static constexpr uint64_t kProgram = 11;
  static constexpr uint64_t kRun = 21;
  static constexpr uint64_t kValue = 31;     // f32[2,2], which it has
  static constexpr uint64_t kExpected = 32;  // f32[5,2]

  // What brings a worker to this point; StartRun feeds one tensor f32[5,2].
  static std::vector<v1::CoordinatorMessage> Script();

  WorkerBench();

  // Answers every step that was to be executed: the first with outputs of the right types, the
  // others with an error.
  void FinishSteps();
  // Ticks, loses the other worker and the coordinator.
  void End();

  // --- WorkerOutbox
  void SendToCoordinator(const v1::WorkerMessage& message, std::vector<Tensor> payloads) override;
  void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                  std::vector<Tensor> payloads) override;
  void Prepare(std::shared_ptr<Program> program) override;
  void Execute(StepTask task) override;

  absl::Time now = absl::UnixEpoch();
  WorkerCore core;

 private:
  std::vector<std::shared_ptr<Program>> preparing_;
  std::vector<StepTask> executing_;
};

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_WORKER_BENCH_H_
