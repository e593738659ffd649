// The jobs that the coordinator knows, by id and in the order of their submission, and how long
// ended ones are kept. Owned by the core; thread-compatible.
#ifndef WEIR_SERVER_JOBS_JOB_TABLE_H_
#define WEIR_SERVER_JOBS_JOB_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/printed_lines.h"
#include "common/plan/routing.h"
#include "common/tensor/tensor.h"
#include "server/jobs/bind_inputs.h"
#include "server/jobs/job_spec.h"
#include "server/jobs/limits.h"
#include "server/jobs/result_assembly.h"
#include "server/variables/job_variables.h"
#include "weir/v1/service.pb.h"

namespace weir {

inline bool HasEnded(v1::Job::State state) {
  return state == v1::Job::SUCCEEDED || state == v1::Job::FAILED || state == v1::Job::CANCELLED;
}

v1::Failure FailureOf(const absl::Status& status, std::string_view worker);

// One run of a job on its workers.
struct ActiveRun {
  uint64_t id = 0;                // 0 until the programs are loaded
  std::vector<uint64_t> workers;  // by rank
  std::vector<bool> finished;     // by rank
  std::shared_ptr<const RunShape> shape;
  std::optional<ResultAssembly> results;
  v1::RunCounters counters;
  PrintedLines printed;
  absl::Time started;
  // A failure that is likely the consequence of another, and how long its cause may take to show.
  v1::Failure consequence;
  absl::Time cause_until = absl::InfiniteFuture();
};

struct JobEntry {
  v1::Job view;  // what clients see
  uint64_t sequence = 0;
  SpecDigest digest;
  uint64_t program = 0;
  uint32_t workers_wanted = 0;
  uint32_t runs_left = 1;
  bool profile = false;
  int64_t memory_budget = 0;

  std::vector<std::string> input_names;
  std::vector<Tensor> inputs;  // until they are bound
  bool is_bound = false;
  BoundInputs bound;
  JobVariables variables;
  std::unique_ptr<ActiveRun> run;  // while RUNNING
  std::vector<int64_t> run_ns;     // of the runs that are over

  std::vector<Tensor> results;
  bool results_kept = false;
  std::deque<v1::LogEntry> log;
  uint64_t next_log_offset = 0;
  size_t log_bytes = 0;  // of the texts

  bool ended() const { return HasEnded(view.state()); }
};

class JobTable {
 public:
  explicit JobTable(const Limits& limits) : limits_(limits) {}

  // REQUIRES: view.id is not in use.
  JobEntry* Add(v1::Job view, SpecDigest digest);
  // Returns: null if there is none.
  JobEntry* Find(std::string_view id);
  JobEntry* FindBySubmission(std::string_view submission_id);
  JobEntry* Get(uint64_t sequence);

  // Returns: the entry.
  v1::LogEntry* AppendLog(JobEntry* job, absl::Time wall, std::string_view worker,
                          std::string_view text);
  // Keeps the results of a job that has ended, within the limits; the oldest go first.
  void KeepResults(JobEntry* job, std::vector<Tensor> results);
  void DropResults(JobEntry* job);
  // Forgets the oldest ended jobs beyond the limit.
  void Prune();

  // Newest first. Returns: INVALID_ARGUMENT for a page token that List did not make.
  absl::StatusOr<v1::ListResponse> List(const v1::ListRequest& request) const;

  const std::map<uint64_t, JobEntry>& jobs() const { return jobs_; }
  std::map<uint64_t, JobEntry>& jobs() { return jobs_; }

 private:
  const Limits limits_;
  uint64_t next_sequence_ = 1;
  std::map<uint64_t, JobEntry> jobs_;  // by sequence
  absl::flat_hash_map<std::string, uint64_t> by_id_;
  absl::flat_hash_map<std::string, uint64_t> by_submission_;
  std::deque<uint64_t> with_results_;  // oldest first
  int64_t result_bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_JOB_TABLE_H_
