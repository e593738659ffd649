// The coordinator's half of a job's progress tracking: takes what workers report, says how far the
// job is, and why it is no further. One per job and generation; owned by whoever runs the job.
// Driven by hand: no thread, no clock, no socket; thread-compatible.
//
// A worker joins and is granted a capability at every source. Once all have joined, Start gives the
// first update. Then, as batches come in: OnBatch for all that have arrived, and Propagate once;
// what it returns goes to all of working(), and is the same for each.
//
// Nothing that is not certain moves a frontier. A worker that is lost or whose batch was refused
// has no part in the job any more, but what it held stays outstanding: the job goes back to a
// checkpoint, which is another JobProgress of the next generation. Times are those of one clock
// and only say how long something has lasted.
#ifndef WEIR_SERVER_PROGRESS_JOB_PROGRESS_H_
#define WEIR_SERVER_PROGRESS_JOB_PROGRESS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/plan/progress_wire.h"
#include "common/timely/batch_receiver.h"
#include "common/timely/reachability.h"
#include "common/timely/tracker.h"
#include "weir/v1/progress.pb.h"

namespace weir {

// Sums since the job began in this generation.
struct ProgressCounters {
  int64_t bytes_in = 0;        // of batches, refused ones included
  int64_t bytes_out = 0;       // of updates and grants, once for each worker that they go to
  int64_t batches = 0;         // that were taken
  int64_t changes = 0;         // in those
  int64_t refused = 0;         // batches
  int64_t updates = 0;         // each counted once, however many workers get it
  int64_t frontier_moves = 0;  // elements of frontiers that came or went
  int64_t pops = 0;            // Tracker::pops
};

class JobProgress {
 public:
  struct Setup {
    uint64_t job = 0;
    uint64_t generation = 1;
    // What sources begin with; after a checkpoint at e it is e + 1.
    int64_t first_epoch = 0;
    // As OnClientFeeds.
    std::map<VertexId, std::string> clients;
    ProgressLimits limits;
  };
  enum class State {
    kStarting,    // workers join
    kRunning,     // also while parts are lost
    kCompleted,   // all frontiers are empty; over, unless somebody has more to say
    kFailed,      // counts do not add up; only Cancel leads on
    kCancelling,  // some worker may still be at it
    kCancelled,   // terminal; nothing is kept
  };
  enum class Part {
    kWorking,
    kEnded,    // a batch of it was refused
    kLost,     // as OnWorkerLost says
    kStopped,  // it has acknowledged a cancel
  };
  struct Worker {
    Worker(std::string name, Reachability* reachability)
        : name(std::move(name)), receiver(reachability) {}

    std::string name;
    BatchReceiver receiver;
    Part part = Part::kWorking;
    absl::Status why;  // its part is over
    absl::Time since;  // its part is what it is
    absl::Time stops_by = absl::InfiniteFuture();
  };

  JobProgress(Setup setup, std::shared_ptr<const Topology> topology, absl::Time now);
  JobProgress(const JobProgress&) = delete;  // receivers refer to what is in here
  JobProgress& operator=(const JobProgress&) = delete;

  // --- Workers.
  struct Joined {
    v1::ProgressGrants grants;
    std::optional<v1::FrontierUpdate> update;  // its first one, if the job has started
  };
  // Errors: AlreadyExists; FailedPrecondition unless the job is starting or running.
  absl::StatusOr<Joined> Join(uint64_t worker, std::string name, absl::Time now);
  // All that shall be there from the first epoch on have joined. Returns: their first update.
  // Errors: FailedPrecondition if the job has started or no worker has joined; InvalidArgument if
  // counts do not add up.
  absl::StatusOr<v1::FrontierUpdate> Start(absl::Time now);

  // Errors, each with worker and batch: FailedPrecondition, after which all goes on, if the batch
  // is of an old generation or the job or the worker's part in it is over; any other one ends the
  // worker's part and says which change at which port is why.
  absl::Status OnBatch(uint64_t worker, const v1::ProgressBatch& batch, absl::Time now);
  // The connection is gone or silent for too long; `stops_by` is when the worker has fenced itself
  // for certain.
  void OnWorkerLost(uint64_t worker, const absl::Status& why, absl::Time stops_by, absl::Time now);
  // For explanations: from now on the client of this name feeds the source (one without a client
  // feeds itself), or feeds nothing any more.
  void OnClientFeeds(VertexId source, std::string client);
  void OnClientLost(std::string_view client, absl::Time now);

  // Works out all that has arrived. Returns: what goes to all of working(); nothing if no frontier
  // has moved, before Start, and after the end.
  std::optional<v1::FrontierUpdate> Propagate(absl::Time now);

  // --- Ending.
  // From now on nothing is taken and nothing comes out. Every worker must be told to stop and
  // acknowledge it (OnStopped), or be lost and have fenced itself. Nothing if the job has ended.
  void Cancel(const absl::Status& why, absl::Time now);
  void OnStopped(uint64_t worker, absl::Time now);
  // Called from time to time while the job is cancelled.
  void OnTick(absl::Time now);

  // --- What is known.
  State state() const { return state_; }
  // OK while all is well; then what was wrong first.
  const absl::Status& status() const { return status_; }
  std::vector<uint64_t> working() const;
  // Whom a cancelled job waits for.
  std::vector<uint64_t> not_stopped(absl::Time now) const;
  // Empty once cancelled.
  const std::map<uint64_t, Worker>& workers() const { return workers_; }
  // REQUIRES: not kCancelled.
  const Tracker& tracker() const { return *tracker_; }
  const Reachability& reachability() const { return *reachability_; }
  const Topology& topology() const { return *topology_; }
  const Setup& setup() const { return setup_; }
  absl::Time began() const { return began_; }
  const std::map<VertexId, std::string>& clients() const { return clients_; }
  // When the client was lost; nothing if it was not.
  std::optional<absl::Time> ClientLostAt(std::string_view client) const;
  ProgressCounters counters() const;

 private:
  // Returns: why nothing is taken or told any more; OK while the job is starting or running.
  absl::Status CheckOpen() const;
  absl::Status CheckGeneration(const v1::ProgressBatch& batch) const;
  absl::Status Take(Worker* worker, const v1::ProgressBatch& batch, absl::Time now);
  void EndPart(Worker* worker, Part part, const absl::Status& why, absl::Time now);
  v1::ProgressGrants GrantsFor(Worker* worker, absl::Time now);
  template <class Message>
  Message Labelled(Message message) const;
  // Works out all that was taken. Returns: how frontiers move. Errors: InvalidArgument if counts do
  // not add up, which fails the job.
  absl::StatusOr<absl::Span<const Change>> Settle(absl::Time now);
  v1::FrontierUpdate AllFrontiers() const;
  void Broadcast(const v1::FrontierUpdate& update);
  void NoteWrong(const absl::Status& why);
  std::string Named(const Worker& worker) const;

  const Setup setup_;
  const std::shared_ptr<const Topology> topology_;
  const absl::Time began_;
  std::unique_ptr<Reachability> reachability_;
  std::unique_ptr<Tracker> tracker_;
  std::map<uint64_t, Worker> workers_;
  int64_t working_ = 0;  // how many of them
  std::map<VertexId, std::string> clients_;
  std::map<std::string, absl::Time, std::less<>> lost_clients_;
  State state_ = State::kStarting;
  absl::Status status_;
  int64_t last_update_ = 0;  // its number
  ProgressCounters counters_;
};

// Returns: "running".
std::string_view NameOf(JobProgress::State state);

}  // namespace weir

#endif  // WEIR_SERVER_PROGRESS_JOB_PROGRESS_H_
