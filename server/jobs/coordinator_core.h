// The logic of the coordinator: a state machine driven by clients' requests, workers' messages,
// finished compilations and time. Owned by the Coordinator, which calls it from one thread at a
// time; it never blocks and knows neither sockets nor threads.
//
// A job waits until its program is compiled and workers are there; jobs start in the order of
// submission, a few at a time. Its run sends each worker the plan (once), then the rows of the
// feeds that it needs, and puts the rows of the results together. A worker's failure fails the
// jobs that ran on it and nothing else.
#ifndef WEIR_SERVER_JOBS_COORDINATOR_CORE_H_
#define WEIR_SERVER_JOBS_COORDINATOR_CORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "server/flows/flow_core.h"
#include "server/jobs/coordinator_outbox.h"
#include "server/jobs/job_table.h"
#include "server/jobs/program_table.h"
#include "server/jobs/worker_table.h"
#include "server/variables/variable_core.h"
#include "weir/v1/worker.pb.h"

namespace weir {

struct CoordinatorStats {
  int64_t jobs_accepted = 0;
  std::map<int, int64_t> jobs_ended;  // by v1::Job::State
  int64_t jobs_queued = 0;
  int64_t jobs_running = 0;
  int64_t workers_ready = 0;
  int64_t workers_draining = 0;
  int64_t workers_lost = 0;  // since the start
  int64_t compilations = 0;
  int64_t feed_bytes = 0;
  int64_t result_bytes = 0;
  int64_t other_tensor_bytes = 0;                 // that passed the coordinator without need
  std::map<std::string, int64_t> variable_bytes;  // by the name of the worker
  FlowStats flows;
};

class CoordinatorCore {
 public:
  // REQUIRES: clock and outbox outlive this. `new_job_id` never repeats itself.
  CoordinatorCore(Limits limits, Clock* clock, std::function<std::string()> new_job_id,
                  CoordinatorOutbox* outbox);

  // --- Clients.
  struct Accepted {
    v1::Job job;
    bool already_existed = false;
    std::string program_id;
  };
  // Returns: NOT_FOUND for an unknown program id or variable, ALREADY_EXISTS for a submission id
  // that names another job, RESOURCE_EXHAUSTED while the queue is full, UNAVAILABLE while draining.
  absl::StatusOr<Accepted> Submit(PreparedSubmission prepared);
  // As Submit, for a job that stays deployed.
  absl::StatusOr<Accepted> Deploy(PreparedFlow prepared);
  // Flows beside what they have in common with other jobs.
  FlowCore& flows() { return flows_; }
  VariableCore& variables() { return variables_; }
  // As VariableCore::EndDirect; then jobs may start that waited for it.
  std::vector<VariableCore::DirectUse::Value> EndDirect(const VariableCore::DirectUse& use,
                                                        VariableCore::Ending ending);
  // Returns: NOT_FOUND that names the id.
  absl::StatusOr<JobEntry*> Find(std::string_view job_id);
  absl::StatusOr<v1::ListResponse> List(const v1::ListRequest& request) const {
    return jobs_.List(request);
  }
  // A job that has ended stays as it is; a flow has ended once its workers have stopped. Returns:
  // the job.
  absl::StatusOr<v1::Job> Cancel(std::string_view job_id);
  // Nobody will ask for the results of this job again.
  void ReleaseResults(std::string_view job_id);
  // A job of an earlier life of this coordinator.
  void Restore(v1::Job job, SpecDigest digest);
  // Takes over a compilation that was made elsewhere. Returns: how often this program has been
  // compiled.
  int64_t Install(const std::string& key, std::shared_ptr<const CompiledProgram> program);
  // Counts as a use of the program. Returns: null for one that is not compiled.
  const ProgramEntry* FindCompiled(std::string_view key) {
    const ProgramEntry* entry = programs_.FindByKey(key);
    return entry != nullptr && entry->compiled != nullptr ? entry : nullptr;
  }

  // --- Workers.
  void OnWorkerConnected(uint64_t worker);
  void OnWorkerMessage(uint64_t worker, const v1::WorkerMessage& message,
                       std::vector<Tensor> payloads);
  void OnWorkerClosed(uint64_t worker, const absl::Status& reason);

  // --- The compiler and time.
  void OnCompiled(uint64_t program,
                  absl::StatusOr<std::shared_ptr<const CompiledProgram>> compiled);
  // Called several times within Limits::heartbeat.
  void OnTick();

  // Takes no more jobs; idle() tells when the last one is over.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }
  bool idle() const { return queue_.empty() && running_.empty() && flows_.idle(); }
  // Fails every job that has not ended.
  void FailAll(const absl::Status& reason);

  const WorkerTable& workers() const { return workers_; }
  CoordinatorStats Stats() const;

 private:
  absl::StatusOr<Accepted> Repeated(const JobEntry& job, const SpecDigest& digest) const;
  // Returns: the job that this is a repetition of; nothing for a new one. Errors: ALREADY_EXISTS,
  // UNAVAILABLE while draining.
  absl::StatusOr<std::optional<Accepted>> Known(const std::string& submission_id,
                                                const SpecDigest& digest);
  v1::Job NewJob(const std::string& submission_id, const std::string& name, Labels labels);
  absl::StatusOr<ProgramEntry*> ProgramFor(const PreparedSubmission& prepared);

  // Starts what can start.
  void Advance();
  // Whether another job may run besides those that do.
  bool HasPlace();
  void TryStart(JobEntry* job);
  void NoteWaiting(JobEntry* job, const std::string& what);
  absl::Status Bind(JobEntry* job, const CompiledProgram& program);
  // That each result which a variable takes is there and has its type.
  absl::Status CheckOutputs(const JobEntry& job, const v1::Plan& plan, const RunShape& shape) const;
  void BeginRun(JobEntry* job, ProgramEntry* program, std::vector<uint64_t> workers);
  // Sends StartRun if every worker has loaded the program.
  void StartIfLoaded(JobEntry* job);
  void SendStart(JobEntry* job, int rank);
  void FinishWithoutWorkers(JobEntry* job, ProgramEntry* program);

  void OnRegister(uint64_t id, const v1::Register& hello);
  void OnProgramLoaded(WorkerEntry* worker, const v1::ProgramLoaded& loaded);
  void OnRunFinished(WorkerEntry* worker, const v1::RunFinished& finished,
                     std::vector<Tensor> payloads);
  void OnFailedRun(JobEntry* job, WorkerEntry* worker, const v1::Failure& failure);
  void OnValueReport(const WorkerEntry& worker, const v1::ValueReport& report,
                     std::vector<Tensor> payloads);
  void OnPeerLost(const WorkerEntry& worker, const v1::PeerLost& lost);
  // Fails the jobs that run and need what was lost.
  void FailWithoutVariables();
  // Unless something of the run is still to come.
  void CompleteRun(JobEntry* job);
  void LoseWorker(uint64_t id, const absl::Status& reason);

  // Stops the run on every worker that is still at it.
  void AbandonRun(JobEntry* job, std::string_view why);
  void Requeue(JobEntry* job);
  void Succeed(JobEntry* job, std::vector<Tensor> results);
  void Fail(JobEntry* job, const v1::Failure& failure);
  void Fail(JobEntry* job, const absl::Status& status);
  void End(JobEntry* job, v1::Job::State state);
  // What the run has printed goes to the log.
  void NotePrinted(JobEntry* job);
  void Note(JobEntry* job, std::string_view text, std::string_view worker = "");

  const Limits limits_;
  Clock* const clock_;
  const std::function<std::string()> new_job_id_;
  CoordinatorOutbox* const outbox_;

  WorkerTable workers_;
  ProgramTable programs_;
  JobTable jobs_;
  FlowCore flows_;
  VariableCore variables_;
  std::vector<uint64_t> queue_;            // jobs that have not begun, in order
  std::vector<uint64_t> running_;          // jobs with a run
  std::map<uint64_t, uint64_t> run_jobs_;  // run -> job
  uint64_t next_run_ = 1;
  absl::Time last_tick_;
  bool draining_ = false;
  CoordinatorStats stats_;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_COORDINATOR_CORE_H_
