// The variables of a cluster: who owns which, which runs may use them now, and what workers are
// told about their values. A part of the coordinator's core (server/jobs/coordinator_core.h), which
// owns it and calls it; thread-compatible, never blocks. No value passes here but those that a
// client gives and asks for.
//
// A value has a number and never changes. A run makes new values under new numbers at the owners;
// once it has succeeded they are those of the variables and the old ones are dropped, else they are
// dropped themselves. So whatever happens to a run or a message, a variable has the value before or
// the one behind it.
#ifndef WEIR_SERVER_VARIABLES_VARIABLE_CORE_H_
#define WEIR_SERVER_VARIABLES_VARIABLE_CORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/plan/routing.h"
#include "server/jobs/bind_inputs.h"
#include "server/jobs/coordinator_outbox.h"
#include "server/jobs/limits.h"
#include "server/jobs/worker_table.h"
#include "server/variables/job_variables.h"
#include "server/variables/orders.h"
#include "weir/v1/service.pb.h"
#include "weir/v1/worker.pb.h"

namespace weir {

class VariableCore {
 public:
  struct World {
    Clock* clock = nullptr;
    CoordinatorOutbox* outbox = nullptr;
    WorkerTable* workers = nullptr;
  };
  VariableCore(Limits limits, World world) : limits_(limits), world_(world) {}

  // --- Clients.
  // `id` is a new one, `digest` that of the value if there is a submission id. Returns: UNAVAILABLE
  // without a worker, RESOURCE_EXHAUSTED beyond the limits, ALREADY_EXISTS for a submission id of
  // another variable.
  absl::StatusOr<v1::Variable> Create(std::string id, const v1::NewVariable& request,
                                      std::string digest, Tensor value);
  struct ReadOutcome {
    v1::Variable variable;
    Tensor value;
  };
  using OnRead = std::function<void(absl::StatusOr<ReadOutcome> outcome)>;
  // Calls `done` when the core has returned, now or later.
  void Read(std::string_view id, OnRead done);
  absl::Status Delete(std::string_view id);
  v1::ListVariablesResponse List() const;
  // By worker; what each owns.
  const std::map<uint64_t, int64_t>& owned_bytes() const { return owned_bytes_; }

  // --- Jobs.
  // Returns: NOT_FOUND that names the id; what is wrong with a lost variable.
  absl::StatusOr<JobVariables> Find(const v1::JobSpec& spec);
  // Jobs enter in the order of submission.
  void Enter(uint64_t user, const std::string& job, const JobVariables& variables);
  void Leave(uint64_t user, const JobVariables& variables);
  // Returns: what a job must wait for, empty if it may start; what is wrong with a lost variable.
  absl::StatusOr<std::string> WaitsFor(uint64_t user, const JobVariables& variables) const;
  // The first lost variable's error. OK if there is none.
  absl::Status LossOf(const JobVariables& variables) const;
  // Those of most bytes first.
  std::vector<uint64_t> OwnersOf(const JobVariables& variables) const;

  // --- Runs. REQUIRES: WaitsFor is empty, and the results have the types of the variables.
  struct RunSetup {
    uint64_t id = 0;
    uint64_t generation = 0;
    const v1::Plan* plan = nullptr;
    const RunShape* shape = nullptr;
    const std::vector<uint64_t>* workers = nullptr;  // by rank
    const BoundInputs* inputs = nullptr;
    const JobVariables* variables = nullptr;
  };
  // Tells the owners; what they send may come before StartRun.
  void BeginRun(const RunSetup& setup);
  // Where workers send results.
  void AddStores(uint64_t run, v1::StartRun* start) const;
  // Whether the values that it makes are with their owners and those that it answers with are here.
  bool IsComplete(uint64_t run) const;
  // The run has succeeded. REQUIRES: it is complete.
  void Commit(uint64_t run);
  // Of no run with variables nothing comes.
  void Abandon(uint64_t run);

  // --- Runs without a job, by one who has the workers in his process. A variable that is written
  // is nobody else's until EndDirect.
  struct DirectUse {
    uint64_t user = 0;
    struct Value {
      VariableEntry* variable = nullptr;
      uint64_t worker = 0;
      uint64_t value = 0;      // that it has
      uint64_t new_value = 0;  // of what is written
    };
    std::vector<Value> inputs;  // in the order of the ids
    std::vector<Value> outputs;
  };
  // Returns: nothing if a job must wait or would fail.
  std::optional<DirectUse> BeginDirect(const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs);
  enum class Ending { kCommit, kForget };
  // With kCommit: who calls has put in the new values. Returns: the old ones that nobody asks for,
  // which he drops.
  std::vector<DirectUse::Value> EndDirect(const DirectUse& use, Ending ending);

  // --- Workers.
  // What a message means for a run.
  struct RunNews {
    uint64_t run = 0;
    v1::Failure failure;  // without a code if there is none
    // A result that is the value of a variable.
    uint32_t value = 0;
    std::optional<Tensor> tensor;
  };
  std::optional<RunNews> OnReport(const WorkerEntry& worker, const v1::ValueReport& report,
                                  std::vector<Tensor> payloads);
  // Whether `worker` and `peer` have to do with each other for a run of these variables.
  static bool Concerns(const JobVariables& variables, const std::vector<uint64_t>& run_workers,
                       uint64_t worker, uint64_t peer);
  void OnPeerLost(uint64_t worker, uint64_t peer);
  void OnWorkerLost(uint64_t worker, const std::string& name, std::string_view why);
  // Brings values from workers that drain to others as far as runs permit, and sends what is left
  // to tell.
  void Advance();

 private:
  struct MadeValue {
    VariableEntry* variable = nullptr;
    uint64_t id = 0;
    uint32_t result = 0;
    bool is_whole = false;
  };
  struct RunValues {
    std::vector<MadeValue> made;
    std::vector<VariableEntry*> used;  // each once
    int reads = 0;                     // that have not come
  };
  struct PendingRead {
    std::string variable;  // its id
    uint64_t worker = 0;
    // One of these.
    OnRead done;
    uint64_t run = 0;
    uint32_t value = 0;
  };

  VariableEntry* FindById(std::string_view id);
  absl::StatusOr<VariableEntry*> Get(std::string_view id);
  // Returns: null if none is ready.
  const WorkerEntry* LeastLoaded() const;
  void SetOwner(VariableEntry* variable, uint64_t worker, std::string name);
  void Disown(VariableEntry* variable);
  void Lose(VariableEntry* variable, std::string_view why);
  void DropLater(uint64_t worker, uint64_t value);
  void Send(ValueOrdersByWorker orders);
  v1::Peer PeerAt(uint64_t worker) const;

  void MakeResults(const RunSetup& setup, RunValues* run, ValueOrdersByWorker* orders);
  void FeedRanks(const RunSetup& setup, ValueOrdersByWorker* orders);
  void ReadResults(const RunSetup& setup, RunValues* run, ValueOrdersByWorker* orders);
  uint64_t NewRead(VariableEntry* variable, PendingRead read);
  std::optional<RunNews> EndRead(uint64_t reader, absl::StatusOr<Tensor> value);
  void Move(VariableEntry* variable);
  void CancelMove(VariableEntry* variable);
  void EndMove(VariableEntry* variable);

  const Limits limits_;
  const World world_;
  std::map<uint64_t, std::unique_ptr<VariableEntry>> entries_;  // by age
  absl::flat_hash_map<std::string, uint64_t> by_id_;
  std::map<std::string, uint64_t> by_submission_;
  std::map<uint64_t, int64_t> owned_bytes_;
  int64_t bytes_ = 0;  // of those that are not lost
  std::map<uint64_t, RunValues> runs_;
  std::map<uint64_t, uint64_t> awaited_;       // value that a run makes -> run
  std::map<uint64_t, VariableEntry*> moving_;  // value -> variable that moves
  std::map<uint64_t, PendingRead> reads_;
  std::map<uint64_t, std::vector<uint64_t>> drops_;  // by worker, not told yet
  uint64_t next_entry_ = 1;
  uint64_t next_value_ = 1;
  uint64_t next_read_ = 1;
  uint64_t next_direct_ = uint64_t{1} << 63;  // beyond those of jobs
};

}  // namespace weir

#endif  // WEIR_SERVER_VARIABLES_VARIABLE_CORE_H_
