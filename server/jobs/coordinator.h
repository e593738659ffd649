// The coordinator in operation: compile threads, connections to workers and a journal around a
// CoordinatorCore. Owned by the program that runs it (weir-server, or an embedded cluster).
// Thread-safe; callbacks run on a thread of the coordinator or on that of the caller, without any
// lock held, and must be short.
//
//   Coordinator coordinator({}, MakeMemoryJournal());
//   auto listener = network.Listen("coordinator", {}, coordinator.Acceptor());
//   auto job = coordinator.Submit({.spec = spec, .inputs = {image}});
//   auto outcome = coordinator.Wait(job->job.id(), absl::InfiniteFuture());   // with its results
#ifndef WEIR_SERVER_JOBS_COORDINATOR_H_
#define WEIR_SERVER_JOBS_COORDINATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/net/link.h"
#include "server/jobs/coordinator_core.h"
#include "server/journal/journal.h"

namespace weir {

struct CoordinatorOptions {
  Limits limits;
  int compile_threads = 1;
};

// A job and, if it has succeeded and they are still kept, its results.
struct JobOutcome {
  v1::Job job;
  std::vector<Tensor> results;
  bool has_results = false;
};

struct Explanation {
  std::vector<v1::ExplainStage> stages;
  std::vector<v1::Fallback> fallbacks;
  std::vector<std::string> notes;
  int64_t compilations = 0;
};

// A program as the coordinator and its workers know it.
struct KnownProgram {
  uint64_t number = 0;  // that workers are told
  std::shared_ptr<const CompiledProgram> compiled;
};

class Coordinator {
 public:
  using OnOutcome = std::function<void(JobOutcome outcome)>;
  using OnExplained = std::function<void(absl::StatusOr<Explanation> explanation)>;

  // Takes over the jobs of the journal; those that had not ended have failed.
  Coordinator(CoordinatorOptions options, std::unique_ptr<Journal> journal);
  // Closes the connections of all workers. Waiters are called with the state of that moment.
  ~Coordinator();

  // For a listener of any form: each link is that of a worker.
  OnAccept Acceptor();

  // --- Jobs.
  absl::StatusOr<CoordinatorCore::Accepted> Submit(Submission submission);
  // Calls `done` when every job that was accepted before outlives a restart.
  void WhenDurable(OnDurable done);
  absl::StatusOr<v1::Job> Get(std::string_view job_id);
  absl::StatusOr<v1::ListResponse> List(const v1::ListRequest& request);
  absl::StatusOr<v1::Job> Cancel(std::string_view job_id);
  // Calls `done` when the job has ended; before this returns, if it has. Returns: a number for
  // StopWaiting.
  absl::StatusOr<uint64_t> WhenEnded(std::string_view job_id, OnOutcome done);
  // Calls `done` at the next change of the job's state or log after `log_offset`.
  absl::StatusOr<uint64_t> WhenChanged(std::string_view job_id, uint64_t log_offset,
                                       OnOutcome done);
  // After this `done` is not called, unless its call has begun.
  void StopWaiting(uint64_t waiter);
  // Blocks until the job has ended or the deadline passed. Returns: its state then.
  absl::StatusOr<JobOutcome> Wait(std::string_view job_id, absl::Time deadline);
  // Returns: FAILED_PRECONDITION unless the job has succeeded and its results are kept.
  absl::StatusOr<JobOutcome> Result(std::string_view job_id);
  // Nobody will ask for the results again.
  void ReleaseResults(std::string_view job_id);
  // The lines from `offset` on.
  absl::StatusOr<std::vector<v1::LogEntry>> Logs(std::string_view job_id, uint64_t offset);

  // --- Programs. Compiles on a thread of its own and calls `done` there.
  void Explain(v1::Program program, OnExplained done);
  absl::StatusOr<Explanation> Explain(v1::Program program);
  // Returns: nothing for a program that is not compiled here (any more).
  std::optional<KnownProgram> FindProgram(std::string_view program_id);

  // --- Cluster.
  std::vector<v1::Worker> Workers();
  v1::Info Info() const;
  CoordinatorStats Stats();
  const Limits& limits() const;
  // Calls `visit` with the core, which nobody else uses meanwhile; callbacks come after it. For
  // what has a header of its own (server/flows/flow_gateway.h).
  void Enter(const std::function<void(CoordinatorCore& core)>& visit);
  // Calls `callback` with the number of ready workers, now and whenever it has changed. Returns: a
  // number for StopWatchingWorkers, after which no call begins.
  uint64_t OnWorkersChanged(std::function<void(int ready)> callback);
  void StopWatchingWorkers(uint64_t watcher);

  // Takes no more jobs, and returns when the last one is over or after `limit`, when those left
  // have been failed.
  absl::Status Drain(absl::Duration limit);
  bool draining();

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_COORDINATOR_H_
