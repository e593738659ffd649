// A coordinator and workers that run a graph at random, for tests: frames and batches wait as long
// as they like, frames overtake one another, and batches are flushed at any time. After each step
// all that must hold of the protocol is compared with the multiset of what truly is outstanding.
#ifndef WEIR_COMMON_TIMELY_SIMULATION_TESTING_H_
#define WEIR_COMMON_TIMELY_SIMULATION_TESTING_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/random.h"
#include "common/timely/batch_sender.h"
#include "common/timely/inner_frontiers.h"
#include "common/timely/oracle_testing.h"
#include "common/timely/tracker.h"

namespace weir {

// The coordinator's half of the protocol, whatever it consists of.
class SimulatedCoordinator {
 public:
  virtual ~SimulatedCoordinator() = default;

  struct Joined {
    std::vector<Change> grants;
    int64_t first_update = 1;
    std::optional<FrontierUpdate> update;  // its first one, if others got theirs already
  };
  // The next worker, by its number.
  virtual Joined Join() = 0;
  // All that begin have joined. Returns: their first update.
  virtual FrontierUpdate Start() = 0;
  virtual absl::Status Accept(size_t worker, const ProgressBatch& batch, absl::Time now) = 0;
  // Returns: what goes to all workers, if anything does.
  virtual std::optional<FrontierUpdate> Propagate(absl::Time now) = 0;
  // Whether counts do not add up; what is told after that does not matter.
  virtual absl::Status CheckCounts() const = 0;
  virtual const Tracker& tracker() const = 0;
};

class Simulation {
 public:
  struct Counters {
    int64_t activations = 0;
    int64_t batches = 0;
    int64_t updates = 0;
    int64_t notifications = 0;
    int64_t inner_changes = 0;
  };

  // What workers go on holding when everything else ends.
  enum class Keep { kNothing, kOneCapability };
  // What a kernel does with a frame: send and hold what it likes, or nothing.
  enum class Kernel { kReacts, kOnlyConsumes };

  // With a coordinator that is a tracker and a receiver for each worker.
  Simulation(std::shared_ptr<const Topology> topology, int workers, Random* random);
  Simulation(std::shared_ptr<const Topology> topology, int workers, Random* random,
             std::unique_ptr<SimulatedCoordinator> coordinator);

  // One random step. Returns: what does not hold after it, or nothing.
  std::string Step();
  // Delivers, consumes and drops everything but what is kept, in one round of flushes and updates.
  // Returns: what does not hold during or after it.
  std::string Drain(Keep keep);
  // From now on all of these vertices are on worker 0, which derives the frontiers in there itself.
  // REQUIRES: no source is among them; no step yet.
  void GiveToOneWorker(std::vector<VertexId> vertices);
  // From now on the worker does nothing, and what it has not sent yet is lost with it.
  void Lose(size_t worker);
  // Delivers one of the frames under way to a second worker. Returns: whether there was one.
  bool RepeatAFrame();
  // A worker joins and is granted what may still come. Returns: what does not hold.
  std::string Join();
  // How many workers there are.
  size_t size() const { return workers_.size(); }

  const Counters& counters() const { return counters_; }
  // Whether the coordinator has noticed that counts do not add up.
  bool noticed() const { return noticed_; }
  const Tracker& tracker() const { return coordinator_->tracker(); }

 private:
  struct Worker {
    Worker(const std::shared_ptr<const Topology>& topology, Reachability* reachability,
           int64_t first_update)
        : sender(reachability), view(topology, first_update) {}

    BatchSender sender;
    FrontierView view;
    std::vector<Pointstamp> inbox;  // frames under way to this worker or with it
    OracleCounts unsent;
    std::deque<ProgressBatch> batches;   // under way to the coordinator
    std::deque<FrontierUpdate> updates;  // under way to the worker
    bool is_lost = false;
  };
  using Activation = std::vector<Change>;

  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }
  Timestamp Later(const Timestamp& time);      // or the same
  Timestamp MuchLater(const Timestamp& time);  // by an epoch
  std::vector<Change> HeldAt(const Worker& worker, PortLocation::Kind kind) const;
  void SendFrom(LocationId output, const Timestamp& time, Activation* activation);
  void React(const Pointstamp& cause, Activation* activation);
  std::string Consume(Worker* worker, Kernel kernel);
  std::string UseCapability(Worker* worker);
  std::string ServeRequest(Worker* worker);
  std::string Perform(Worker* worker, Activation activation);
  bool IsInside(LocationId location) const;
  void CountInside(const Activation& activation);
  std::string PropagateInside();
  std::string Flush(Worker* worker);
  std::string Receive(size_t worker);
  std::string Broadcast();
  std::string Tell(const FrontierUpdate& update);
  void AddWorker();
  std::string TakeUpdate(Worker* worker);
  std::string DropAll(Worker* worker, Keep keep);

  std::string Check() const;
  std::string CheckConservation() const;
  std::string CheckFrontiers() const;
  std::string CheckInside() const;
  std::string CheckUnderWay() const;
  std::string CheckExact() const;

  std::shared_ptr<const Topology> topology_;
  Random& random_;
  Oracle oracle_;
  mutable Reachability reachability_;
  std::unique_ptr<SimulatedCoordinator> coordinator_;
  FrontierView told_;  // what was broadcast, with its checks
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Pointstamp> to_send_;  // frames of the activation at hand
  std::unique_ptr<InnerFrontiers> inner_;
  std::vector<bool> is_inside_;  // by vertex
  OracleCounts truth_;
  OracleCounts heard_;
  absl::Time now_ = absl::UnixEpoch();
  Counters counters_;
  bool noticed_ = false;
  bool may_not_add_up_ = false;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_SIMULATION_TESTING_H_
