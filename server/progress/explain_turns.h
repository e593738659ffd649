// Which vertices keep records back until it is their turn, and behind what: those that act when a
// time is complete, and variables, which take times one after the other. They hold nothing up
// themselves, but what is asked for is with them. Stateless; as thread-safe as the JobProgress that
// it is given. As of the last Propagate.
#ifndef WEIR_SERVER_PROGRESS_EXPLAIN_TURNS_H_
#define WEIR_SERVER_PROGRESS_EXPLAIN_TURNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/progress/job_progress.h"

namespace weir {

// A request that is not served yet, as something may still come to its vertex before.
struct Turn {
  Pointstamp request;
  int64_t count = 0;
  absl::Time since;
  uint64_t worker = 0;
  int input = 0;     // of the vertex, to which it may come
  Timestamp behind;  // the least that may
};

// Returns: all of the job, or those that lead to an input, oldest first; one for each worker.
std::vector<Turn> TurnsOf(const JobProgress& job, std::optional<LocationId> port);

// Returns: "'weights' waits for its turn at (4), as (2) may still come to input 1: worker 'a' has
// held 1 request at input 0 for 10s".
std::string ToString(const Turn& turn, const JobProgress& job, absl::Time now);

}  // namespace weir

#endif  // WEIR_SERVER_PROGRESS_EXPLAIN_TURNS_H_
