// Ranks the locations of a graph so that changes are worked out after all of their causes, and
// finds cycles that add nothing. Used while a Topology is made; thread-compatible.
//
// The key of (location, time) is: epoch, rank, counter, rank, counter, rank, ... The first rank
// numbers the strongly connected components of the hops that keep the epoch in topological order;
// the second one does the same within a component and with the hops that also keep the outermost
// counter; and so on. So a hop raises the coordinate or, at the latest, the rank behind it, and
// whatever a loop does for one trip of the loop around it comes before what leaves it.
//
// Components are those of Tarjan, "Depth-first search and linear graph algorithms" (1972).
#ifndef WEIR_COMMON_TIMELY_CAUSAL_ORDER_H_
#define WEIR_COMMON_TIMELY_CAUSAL_ORDER_H_

#include <vector>

#include "common/base/status.h"
#include "common/timely/topology.h"

namespace weir {

class CausalOrder {
 public:
  explicit CausalOrder(Topology* topology) : topology_(*topology) {}

  // Sets the ranks. Errors: InvalidArgument, if a cycle adds nothing.
  absl::Status Compute();

 private:
  using Places = std::vector<int64_t>;

  // Ranks `places`, between which all hops of interest keep the coordinates before `level`.
  absl::Status RankPlaces(const Places& places, int level);
  // Returns: the components of `places` under the hops that keep the coordinates up to `level`, in
  // topological order.
  std::vector<Places> Components(const Places& places, int level);
  bool Follows(const Hop& hop, int level) const;
  // Returns: a cycle of the component that does not stay in one loop of depth `level` + 1 and so
  // has no counter that it could advance; empty if all of the component is in one.
  Places CycleWithoutCounter(const Places& component, int level) const;
  // Returns: a shortest way of one hop at least through the component, both ends included.
  Places Way(const Places& component, int level, int64_t from, int64_t to) const;
  absl::Status Refusal(const Places& cycle) const;

  Topology& topology_;
  std::vector<int64_t> position_;  // of a place in those looked at; -1 if it is none of them
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_CAUSAL_ORDER_H_
