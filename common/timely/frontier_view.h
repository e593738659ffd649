// The frontiers of a job's input ports as a worker knows them: what the coordinator told last.
// Never ahead of what is outstanding. One per worker and job; thread-compatible.
#ifndef WEIR_COMMON_TIMELY_FRONTIER_VIEW_H_
#define WEIR_COMMON_TIMELY_FRONTIER_VIEW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/timely/mutable_antichain.h"
#include "common/timely/pointstamp.h"

namespace weir {

class FrontierView {
 public:
  // `first` is the number of the update that this view begins with; it has all frontiers.
  explicit FrontierView(std::shared_ptr<const Topology> topology, int64_t first = 1);

  // Takes the next update as one. Errors, after which nothing has
  // changed: AlreadyExists or DataLoss, not the update that is due; InvalidArgument, a place that
  // is no input, an element that is there or not there already, or a frontier that would go back.
  absl::Status Apply(const FrontierUpdate& update);

  // Whether anything was told yet. Before that no time is complete and no kernel may run.
  bool is_known() const { return next_ > first_; }
  // How many updates were taken.
  int64_t version() const { return next_ - first_; }
  // REQUIRES: an input.
  const Frontier& frontier(LocationId input) const { return frontiers_[input.value()]; }
  // Returns: whether nothing at this time or before can come to the port any more.
  bool IsComplete(LocationId input, const Timestamp& time) const {
    return is_known() && !frontier(input).Covers(time);
  }
  // Returns: whether a pointstamp is, of all that could come before or at it, the first: whether to
  // remove it could move a frontier. Of an output or request, by the ports right behind it.
  bool IsAtFrontier(const Pointstamp& pointstamp) const;

 private:
  // `changes` are all of one location. Returns: its frontier with them.
  absl::StatusOr<Frontier> With(absl::Span<const Change> changes) const;

  std::shared_ptr<const Topology> topology_;
  std::vector<Frontier> frontiers_;  // by location
  const int64_t first_;
  int64_t next_;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_FRONTIER_VIEW_H_
