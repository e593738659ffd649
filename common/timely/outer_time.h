// Times of the scope around a loop. Stateless; usable from any thread.
#ifndef WEIR_COMMON_TIMELY_OUTER_TIME_H_
#define WEIR_COMMON_TIMELY_OUTER_TIME_H_

#include "common/timely/path_summary.h"
#include "common/timely/timestamp.h"

namespace weir {

// What leaving the innermost loop makes of a time. REQUIRES: a loop is around.
inline Timestamp OuterOf(const Timestamp& time) {
  return *PathSummary::Leave(time.depth()).Apply(time);
}

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_OUTER_TIME_H_
