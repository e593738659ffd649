// What the coordinator's state machines ask of the world. Owned by whoever drives them; calls
// return at once and never call back.
#ifndef WEIR_SERVER_JOBS_COORDINATOR_OUTBOX_H_
#define WEIR_SERVER_JOBS_COORDINATOR_OUTBOX_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "common/tensor/tensor.h"
#include "server/jobs/job_table.h"
#include "weir/v1/worker.pb.h"

namespace weir {

enum class JobEvent {
  kAccepted,
  kProgress,  // state or log
  kEnded,     // results included
};

class CoordinatorOutbox {
 public:
  virtual ~CoordinatorOutbox() = default;
  virtual void SendToWorker(uint64_t worker, const v1::CoordinatorMessage& message,
                            std::vector<Tensor> payloads) = 0;
  // Ends the connection; OnWorkerClosed need not follow.
  virtual void CloseWorker(uint64_t worker, const absl::Status& reason) = 0;
  // Compiles a program, then calls OnCompiled.
  virtual void Compile(uint64_t program, const v1::Program& source) = 0;
  virtual void OnJob(const JobEntry& job, JobEvent event) = 0;
  // Calls `call` when the state machine has returned.
  virtual void Defer(std::function<void()> call) = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_COORDINATOR_OUTBOX_H_
