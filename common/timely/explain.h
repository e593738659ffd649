// Why a port waits: what is outstanding that holds its frontier back. Stateless; as thread-safe as
// the tracker and the reachability that it is given.
#ifndef WEIR_COMMON_TIMELY_EXPLAIN_H_
#define WEIR_COMMON_TIMELY_EXPLAIN_H_

#include <string>
#include <vector>

#include "common/timely/pointstamp.h"
#include "common/timely/reachability.h"
#include "common/timely/tracker.h"

namespace weir {

// An outstanding pointstamp that could result in an element of a frontier.
struct Holder {
  Pointstamp outstanding;
  int64_t count = 0;
  Timestamp element;  // of the frontier at the port
};

// Returns: all holders of the frontier at `port` as of the last Propagate, by location and time;
// none if the frontier is empty. Each element of the frontier has one at least.
std::vector<Holder> HoldersOf(LocationId port, const Tracker& tracker, Reachability* reachability);

// Returns: "(3, 1) at input 0 of 'join' waits for 2 at output 0 of 'source' of (3)", a line each.
std::string ToString(absl::Span<const Holder> holders, LocationId port, const Topology& topology);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_EXPLAIN_H_
