// Counts what is outstanding and says at which times something may still come: the frontier of each
// port. The coordinator has one per job; a worker has one per loop of its own (inner_frontiers.h).
// Driven by hand: no clock, no thread. Thread-compatible.
//
// Update only notes a change; Propagate takes all that was noted as one, however many batches of
// workers it came in. It counts them per location first, so that what cancels costs nothing more,
// and then works out in the order of Topology::ComesBefore how the frontiers change. Each
// (location, time) is worked out once per call, only where a frontier changes, so the cost follows
// the change and never the graph; pops() says how many changes went through.
//
//   Tracker tracker(topology);
//   tracker.Update(topology->output(in, 0), {0}, +1);  // a source may send at epoch 0
//   tracker.Propagate();
//   tracker.frontier(topology->input(sink, 0));  // {(0)}
//   tracker.Update(topology->output(in, 0), {1}, +1);
//   tracker.Update(topology->output(in, 0), {0}, -1);
//   for (const Change& change : tracker.Propagate()) Tell(change);  // +(1), then -(0), at the sink
//
// The incremental scheme is that of Rust's timely dataflow (progress/reachability), with an order
// that puts all of a loop before what leaves it.
#ifndef WEIR_COMMON_TIMELY_TRACKER_H_
#define WEIR_COMMON_TIMELY_TRACKER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/timely/mutable_antichain.h"
#include "common/timely/pointstamp.h"
#include "common/timely/topology.h"

namespace weir {

class Tracker {
 public:
  explicit Tracker(std::shared_ptr<const Topology> topology);
  // Of parts of the graph, each on its own: hops are followed inside of a part only. `part_of` has
  // the part of each vertex, -1 for none.
  Tracker(std::shared_ptr<const Topology> topology, absl::Span<const int> part_of);

  const Topology& topology() const { return *topology_; }

  // Notes that the count of a pointstamp changes. REQUIRES: there is such a location, and times
  // there have such coordinates (Topology::CheckPointstamp).
  void Update(LocationId location, const Timestamp& time, int64_t delta);

  // Works out all that was noted. Returns: the changes of frontiers of input ports, elements that
  // come (1) before those that go (-1), each sorted; valid until the next call. `now` says since
  // when something is outstanding (MutableAntichain::Entry) and decides nothing.
  absl::Span<const Change> Propagate(absl::Time now = absl::UnixEpoch());

  // As of the last Propagate. REQUIRES: an input or an output; where requests can be has none.
  const Frontier& frontier(LocationId location) const {
    return places_[location.value()].implied.frontier();
  }
  // What is outstanding at a location itself, without what may still come there.
  const MutableAntichain& outstanding(LocationId location) const {
    return places_[location.value()].outstanding;
  }
  // How many pointstamps have a positive count; a job with none has ended.
  int64_t active() const { return active_; }
  // The frontiers of all input ports, as the first update for a worker that joins.
  std::vector<Change> Frontiers() const;

  // Errors: InvalidArgument, as of the last Propagate, if more frames were consumed or capabilities
  // released somewhere than anybody could still report as produced: a frame came twice.
  absl::Status CheckCounts() const;

  // How many changes were taken from the heap, in all.
  int64_t pops() const { return pops_; }

 private:
  struct Place {
    MutableAntichain outstanding;
    MutableAntichain implied;      // of the frontiers of `outstanding` and of all places before
    ChangeBatch<Timestamp> noted;  // for `outstanding`
    ChangeBatch<Timestamp> told;   // changes of the frontier of `implied` in this call
    int part = 0;
    bool is_followed = true;  // by hops of others in its part
    bool is_noted = false;
    bool is_told = false;
  };
  struct Work {
    LocationId location;
    Timestamp time;
    int64_t delta = 0;
  };

  void CountNoted(absl::Time now);
  void Spread(LocationId from, absl::Span<const ChangeBatch<Timestamp>::Entry> changes);
  void Push(LocationId location, const Timestamp& time, int64_t delta);
  Work Pop();
  void CollectTold();
  void FindOverdrawn(LocationId location);

  std::shared_ptr<const Topology> topology_;
  std::vector<Place> places_;
  std::vector<LocationId> noted_;  // places with noted changes
  std::vector<LocationId> told_;   // places whose frontier may have changed in this call
  std::vector<Work> heap_;
  ChangeBatch<Timestamp> changes_;  // of one antichain
  std::vector<Change> updates_;
  std::vector<Pointstamp> overdrawn_;
  int64_t active_ = 0;
  int64_t pops_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_TRACKER_H_
