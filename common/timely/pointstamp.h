// What progress messages are made of. Plain values; thread-compatible.
#ifndef WEIR_COMMON_TIMELY_POINTSTAMP_H_
#define WEIR_COMMON_TIMELY_POINTSTAMP_H_

#include <cstdint>
#include <vector>

#include "common/timely/change_batch.h"
#include "common/timely/timestamp.h"
#include "common/timely/topology.h"

namespace weir {

// Something outstanding: where it is and its time there.
struct Pointstamp {
  LocationId location;
  Timestamp time;

  friend bool operator==(const Pointstamp& a, const Pointstamp& b) {
    return a.location == b.location && a.time == b.time;
  }
  friend bool operator<(const Pointstamp& a, const Pointstamp& b) {
    return a.location != b.location ? a.location < b.location : a.time < b.time;
  }
};

// By how much the count of a pointstamp changes.
using Change = ChangeBatch<Pointstamp>::Entry;

// What a worker says about its activations since its last batch: frames consumed (-) and produced
// (+) at inputs, capabilities and requests held (+) and released (-). Applied as one.
struct ProgressBatch {
  int64_t sequence = 0;         // 1 for the first of a worker, then one more each
  std::vector<Change> changes;  // sorted, each pointstamp once, no delta is zero
};

// What the coordinator says about the frontiers of input ports: elements that come (1) before those
// that go (-1). The first one has all frontiers as they are then.
struct FrontierUpdate {
  int64_t sequence = 0;
  std::vector<Change> changes;

  bool empty() const { return changes.empty(); }
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_POINTSTAMP_H_
