// Which place reaches which, and what happens to a time on the way: an antichain of path summaries
// for each pair of locations of a topology. Owned by whoever tracks or checks a job;
// thread-compatible.
//
// The row of a location is computed when it is first asked for, once per job. Equal antichains are
// stored once: a pair takes four bytes.
#ifndef WEIR_COMMON_TIMELY_REACHABILITY_H_
#define WEIR_COMMON_TIMELY_REACHABILITY_H_

#include <map>
#include <memory>
#include <vector>

#include "common/timely/antichain.h"
#include "common/timely/path_summary.h"
#include "common/timely/pointstamp.h"
#include "common/timely/topology.h"

namespace weir {

class Reachability {
 public:
  explicit Reachability(std::shared_ptr<const Topology> topology);

  const Topology& topology() const { return *topology_; }
  // Returns: the least summaries of all ways, that of no hop included; empty if there is no way.
  const Antichain<PathSummary>& Between(LocationId from, LocationId to);
  // Returns: whether an event at `from` could result in one at `to`: whether some summary gives a
  // time at most that of `to`.
  bool CouldResultIn(const Pointstamp& from, const Pointstamp& to) {
    return CouldResultIn(from.location, from.time, to);
  }
  bool CouldResultIn(LocationId from, const Timestamp& time, const Pointstamp& to);

 private:
  using Row = std::vector<int32_t>;

  const Row& RowOf(LocationId from);
  Row ComputeRow(LocationId from);

  std::shared_ptr<const Topology> topology_;
  std::vector<Row> rows_;  // empty until asked for
  std::map<std::vector<PathSummary>, int32_t> numbers_;
  std::vector<Antichain<PathSummary>> antichains_;  // by number; 0 is the empty one
  std::vector<bool> adds_nothing_;                  // by number: one, without constants or sums
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_REACHABILITY_H_
