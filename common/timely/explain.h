// Why a port waits: what is outstanding that holds its frontier back. Stateless; as thread-safe as
// the tracker and the reachability that it is given.
#ifndef WEIR_COMMON_TIMELY_EXPLAIN_H_
#define WEIR_COMMON_TIMELY_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/timely/pointstamp.h"
#include "common/timely/reachability.h"
#include "common/timely/tracker.h"

namespace weir {

// An outstanding pointstamp that could result in an element of a frontier.
struct Holder {
  Pointstamp outstanding;
  int64_t count = 0;
  absl::Time since;   // when it became outstanding
  Timestamp element;  // of the frontier at the port
};

// Returns: all holders of the frontier at `port` as of the last Propagate, by location and time;
// none if the frontier is empty. Each element of the frontier has one at least.
std::vector<Holder> HoldersOf(LocationId port, const Tracker& tracker,
                              const Reachability& reachability);

// Something outstanding that nothing else outstanding could result in.
struct Root {
  Pointstamp outstanding;
  int64_t count = 0;
  absl::Time since;  // when it became outstanding
};

// Returns: what the whole graph waits for as of the last Propagate, by location and time; none if
// and only if nothing is outstanding. Costs a look at each hop.
std::vector<Root> RootsOf(const Tracker& tracker);

// Returns: "(3, 1) at input 0 of 'join' waits for 2 at output 0 of 'source' of (3)", a line each.
std::string ToString(absl::Span<const Holder> holders, LocationId port, const Topology& topology);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_EXPLAIN_H_
