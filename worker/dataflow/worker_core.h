// The logic of a worker: a state machine driven by messages, finished work and time. Owned by the
// worker's service, which calls it from one thread at a time (its event loop); it never blocks and
// knows neither sockets nor threads.
//
// A run walks through the steps of its plan. A step starts when the rows that it needs are here:
// feeds come with StartRun, rows made by other workers come straight from them. What a step makes
// is pushed at once to the workers that need it. Several runs may be in flight; each waits only for
// its own rows.
#ifndef WEIR_WORKER_DATAFLOW_WORKER_CORE_H_
#define WEIR_WORKER_DATAFLOW_WORKER_CORE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/tensor/tensor.h"
#include "weir/v1/worker.pb.h"
#include "worker/dataflow/program.h"
#include "worker/dataflow/run.h"
#include "worker/state/value_store.h"

namespace weir {

// What the core asks of the world. Calls return at once.
class WorkerOutbox {
 public:
  virtual ~WorkerOutbox() = default;
  virtual void SendToCoordinator(const v1::WorkerMessage& message,
                                 std::vector<Tensor> payloads) = 0;
  virtual void SendToPeer(const v1::Peer& peer, const v1::PeerMessage& message,
                          std::vector<Tensor> payloads) = 0;
  // Makes the functions of a program ready, then calls OnProgramReady.
  virtual void Prepare(std::shared_ptr<Program> program) = 0;
  // Runs a step, then calls OnStepDone.
  virtual void Execute(StepTask task) = 0;
};

class WorkerCore {
 public:
  struct Options {
    int64_t memory_budget = 0;  // as in WorkerOptions
    // Of variables; may be shared with who runs programs here on his own thread.
    std::shared_ptr<ValueStore> values = std::make_shared<ValueStore>();
  };
  // REQUIRES: outbox outlives this.
  WorkerCore(std::string name, WorkerOutbox* outbox, Options options);
  WorkerCore(std::string name, WorkerOutbox* outbox)
      : WorkerCore(std::move(name), outbox, Options()) {}

  void OnCoordinatorMessage(const v1::CoordinatorMessage& message, std::vector<Tensor> payloads,
                            absl::Time now);
  // The coordinator said something to somebody else here.
  void NoteHeard(absl::Time now) { last_heard_ = now; }
  void OnPeerMessage(const v1::PeerMessage& message, std::vector<Tensor> payloads);
  // A connection to a peer failed for good: runs that need it end.
  void OnPeerLost(uint64_t worker_id, const absl::Status& reason);
  void OnProgramReady(uint64_t program_id, const absl::Status& status);
  void OnStepDone(uint64_t run_id, int step, absl::StatusOr<std::vector<Tensor>> outputs,
                  const StepStats& stats);
  // The coordinator is gone or silent: every run ends.
  void OnCoordinatorLost(const absl::Status& reason);
  // Heartbeats, and fencing after silence. Returns: false once the worker has fenced itself.
  bool OnTick(absl::Time now, int64_t resident_bytes);
  // Takes no more runs; drained() tells when the last one is over and others have the values.
  void Drain();
  bool drained() const { return draining_ && idle() && options_.values->empty(); }
  bool idle() const { return runs_.empty(); }
  // Runs of which rows are here, but not the start.
  size_t awaited_runs() const { return early_.size(); }

  bool registered() const { return registered_.worker_id() != 0; }
  // Returns: null for a program that is not loaded or not ready.
  std::shared_ptr<Program> FindProgram(uint64_t id) const;

 private:
  struct StartedRun {
    v1::StartRun start;
    Run run;
    // In one process with a client, who may write into what it gave and is given: a variable keeps
    // none of the one memory, and a client gets none of the other.
    std::vector<const Buffer*> memory_of_clients = {};
    std::vector<const Buffer*> memory_of_variables = {};
  };

  absl::StatusOr<std::unique_ptr<StartedRun>> MakeRun(const v1::StartRun& start,
                                                      std::shared_ptr<Program> program) const;
  void LoadProgram(const v1::LoadProgram& load, std::vector<Tensor> payloads);
  void StartRun(const v1::StartRun& start, std::vector<Tensor> payloads);
  absl::Status CreateRun(const v1::StartRun& start, std::vector<Tensor> payloads);
  void Advance(StartedRun* started);
  void SendMade(StartedRun* started);
  // Takes what another worker or a variable gives to a run, which may not have started.
  void TakeRows(const v1::Rows& rows, Tensor payload);
  absl::Status AddRows(const v1::Rows& rows, Tensor payload, StartedRun* started);
  void Finish(StartedRun* started, const absl::Status& status);
  void EndRun(uint64_t run_id, const absl::Status& status);
  v1::Failure MakeFailure(const absl::Status& status) const;

  // --- The values of variables (worker_values.cc).
  void Obey(const v1::ValueOrders& orders, std::vector<Tensor> payloads);
  void HandOver(const v1::HandOver& hand);
  void SendValue(uint64_t id, int64_t first_row, Tensor rows, const v1::Peer& owner);
  void AddToValue(uint64_t id, int64_t first_row, Tensor rows);
  // Tells the coordinator that a value is whole, or what is wrong.
  void Report(uint64_t id, const absl::StatusOr<bool>& whole);
  // Sends what a run made for variables to their owners. Returns: the other results.
  std::vector<Run::Result> StoreResults(StartedRun* started);

  const std::string name_;
  WorkerOutbox* outbox_;
  const Options options_;
  v1::Registered registered_;
  absl::Time last_heard_ = absl::InfiniteFuture();
  absl::Time last_sent_ = absl::InfinitePast();
  bool draining_ = false;

  std::map<std::string, Tensor> blobs_;  // constants by digest
  std::map<uint64_t, std::shared_ptr<Program>> programs_;
  std::map<uint64_t, std::unique_ptr<StartedRun>> runs_;
  // Rows that came before StartRun of their run.
  struct Early {
    v1::Rows rows;
    Tensor payload;
  };
  std::map<uint64_t, std::vector<Early>> early_;
  std::map<uint64_t, v1::Abort> early_aborts_;
  uint64_t last_finished_run_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_DATAFLOW_WORKER_CORE_H_
