// What a job, or one of its ports, waits for: by vertex, worker or client, with time, count and
// age, as values and in words. Stateless; as thread-safe as the JobProgress that it is given.
//
// As of the last Propagate; whoever asks takes in first what has arrived.
#ifndef WEIR_SERVER_PROGRESS_EXPLAIN_PROGRESS_H_
#define WEIR_SERVER_PROGRESS_EXPLAIN_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/progress/job_progress.h"

namespace weir {

// Something that frontiers wait for. What is held names its worker: a capability at an output, a
// request at an input. A frame is under way or in a kernel: that can be at any worker of the job,
// as the coordinator counts frames and does not know where they are.
struct Wait {
  Pointstamp outstanding;
  int64_t count = 0;  // of all workers together
  absl::Time since;   // of the worker that has held it longest
  // Those that hold it and took it up within a second of each other; of a frame, all of the job.
  std::vector<uint64_t> workers;
  std::string client;                // that feeds this source; empty if none does
  std::optional<Timestamp> element;  // of the frontier that was asked for
  std::string place;   // where a frame is, and what goes on there; empty if that is not known
  std::string detail;  // what else is known
};

// Returns: what holds back the frontier of an input, oldest first; none if the frontier is empty.
// Errors: NotFound for a vertex or an input that the job does not have; FailedPrecondition once the
// job is cancelled.
absl::StatusOr<std::vector<Wait>> WaitsAt(const JobProgress& job, std::string_view vertex,
                                          int input);

// Returns: what the whole job waits for: whatever is outstanding and does itself wait for nothing
// that is, oldest first; none if the job is completed or cancelled.
std::vector<Wait> WaitsOf(const JobProgress& job);

// Returns: "'load' may still send at (3): worker 'a' has held 1 capability at output 0 for 2s".
std::string ToString(const Wait& wait, const JobProgress& job, absl::Time now);

// Returns: a few lines about a port: its frontier, what holds it back (`waits`), and who on the way
// to it keeps records until it is their turn (explain_turns.h). Errors: as WaitsAt.
absl::StatusOr<std::string> ExplainFrontier(const JobProgress& job, std::string_view vertex,
                                            int input, const std::vector<Wait>& waits,
                                            absl::Time now);

// Returns: a few lines about the job: how far it is, whose part is over and why, `waits`, that it
// waits for, and who keeps records until it is their turn.
std::string Dump(const JobProgress& job, const std::vector<Wait>& waits, absl::Time now);

}  // namespace weir

#endif  // WEIR_SERVER_PROGRESS_EXPLAIN_PROGRESS_H_
