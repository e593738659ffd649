// The frontiers inside of parts of the graph that lie wholly on one worker, without a round trip to
// the coordinator per trip of a loop. One per worker and job; thread-compatible. Parts know of each
// other only what the coordinator says, and all of them together cost what the graph does.
//
// Two things can still come to a port inside: what the worker itself has outstanding inside, all of
// which it knows, and what enters. The second is bounded by the coordinator's last frontiers at the
// inputs through which data enters. Either half alone is unsafe: the coordinator's frontier does
// not say what has entered, and what is outstanding inside does not say what is yet to come.
//
// A frame counts as inside from its delivery at an entry until its kernel has finished.
#ifndef WEIR_COMMON_TIMELY_INNER_FRONTIERS_H_
#define WEIR_COMMON_TIMELY_INNER_FRONTIERS_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/timely/tracker.h"

namespace weir {

class InnerFrontiers {
 public:
  // `part_of` has the part of each vertex, to which all of its ports belong, and -1 for one that is
  // in none. Nothing has entered yet and anything may; no time is complete before the coordinator
  // said so.
  InnerFrontiers(std::shared_ptr<const Topology> topology, absl::Span<const int> part_of);

  // Inputs of parts that vertices outside of them lead to.
  absl::Span<const LocationId> entries() const { return entries_; }

  // Takes a change of the worker's own counts; those outside of parts are left out.
  void Update(LocationId location, const Timestamp& time, int64_t delta);
  // Takes the coordinator's changes of frontiers, each of which FrontierView has accepted; those of
  // other places than entries are left out.
  void Apply(const FrontierUpdate& update);

  // Works out all that was taken. Returns: the changes of frontiers of inputs inside, those that
  // come first.
  absl::Span<const Change> Propagate();

  // Whether the coordinator has said anything yet.
  bool is_known() const { return is_known_; }
  // As of the last Propagate. REQUIRES: is_known(), and an input or output of a part.
  const Frontier& frontier(LocationId location) const { return tracker_.frontier(location); }
  bool IsComplete(LocationId input, const Timestamp& time) const {
    return is_known_ && !frontier(input).Covers(time);
  }
  int64_t pops() const { return tracker_.pops(); }

 private:
  std::vector<bool> is_inside_;  // by location
  std::vector<bool> is_entry_;   // likewise
  std::vector<LocationId> entries_;
  Tracker tracker_;
  bool is_known_ = false;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_INNER_FRONTIERS_H_
