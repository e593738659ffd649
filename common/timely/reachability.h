// Which place reaches which, and what happens to a time on the way. Owned by whoever tracks or
// checks a job; thread-compatible.
//
// Nothing is kept per pair of places: questions are answered by going backwards from the place that
// they are about. Whether something has a cause is asked of each rise of a count; the cause is
// mostly a hop or two away, and as many as activations were merged at the most, so that the answer
// costs what was done and not what the graph has.
//
//   reachability.SetCauses(changes);  // whatever falls in these
//   if (!reachability.HasCause(rise.key, held)) return Refuse(rise);
#ifndef WEIR_COMMON_TIMELY_REACHABILITY_H_
#define WEIR_COMMON_TIMELY_REACHABILITY_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/timely/antichain.h"
#include "common/timely/mutable_antichain.h"
#include "common/timely/path_summary.h"
#include "common/timely/pointstamp.h"
#include "common/timely/topology.h"

namespace weir {

class Reachability {
 public:
  // Returns: the least times that are held at an output or request; null for none.
  using HeldAt = absl::FunctionRef<const Frontier*(LocationId)>;

  explicit Reachability(std::shared_ptr<const Topology> topology);

  const Topology& topology() const { return *topology_; }

  // Returns: for each location, the least summaries of all ways from it, that of no hop included;
  // empty if there is no way. Looks at each hop that leads to `to`.
  std::vector<Antichain<PathSummary>> WaysTo(LocationId to) const;

  // Returns: whether an event at `from` could result in one at `to`: whether some summary gives a
  // time at most that of `to`.
  bool CouldResultIn(const Pointstamp& from, const Pointstamp& to);

  // What falls in `changes` is a cause from now on, and nothing else. REQUIRES: they are sorted and
  // stay as they are while causes are asked for.
  void SetCauses(absl::Span<const Change> changes);
  // Returns: whether some cause, or something held, could result in a pointstamp.
  bool HasCause(const Pointstamp& to, HeldAt held);

  // How many places and times were looked at for causes, in all.
  int64_t steps() const { return steps_; }

 private:
  // A place from which events at or before a bound lead to where the search began.
  struct Entry {
    LocationId location;
    int64_t bound = 0;  // where its coordinates are in bounds_
    int64_t next = -1;  // another entry of the same location
  };
  struct Mark {
    int64_t search = 0;  // in which `entry` was made
    int64_t entry = 0;   // the last one
    int64_t causes = 0;  // for which `cause` was set
    int64_t cause = 0;   // the first change of the location that falls
  };

  void Reach(LocationId location, int64_t bound);
  // Returns: the bound in front of a way with this summary; -1 if no time is early enough.
  int64_t BoundBefore(const PathSummary& summary, int64_t bound, int size);
  // Whether a cause is at most so many hops away, none of which changes times: looked at first, as
  // mostly one is, and nothing is noted on the way.
  bool FallsNear(LocationId location, const Timestamp& time, int hops);
  // Whether a cause, or something held, is at an entry.
  bool Falls(const Entry& entry);
  bool IsHeld(const Entry& entry, HeldAt held);
  bool IsWithin(const Timestamp& time, int64_t bound);

  std::shared_ptr<const Topology> topology_;
  std::vector<Mark> marks_;      // by location
  std::vector<Entry> entries_;   // of the search at hand, in the order of discovery
  std::vector<int64_t> bounds_;  // of the search at hand
  absl::Span<const Change> causes_;
  int64_t searches_ = 0;
  int64_t cause_sets_ = 0;
  int64_t steps_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_REACHABILITY_H_
