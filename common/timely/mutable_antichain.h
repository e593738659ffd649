// Times with counts, and the frontier of those whose count is positive. Thread-compatible.
//
// Counts may be negative for a while: what was consumed may be heard of before what was produced.
// Such a time is remembered and holds nothing back. Where n times have a count, a change costs
// O(log n) to find its time, O(n) to move those behind it or to find what a time held back.
#ifndef WEIR_COMMON_TIMELY_MUTABLE_ANTICHAIN_H_
#define WEIR_COMMON_TIMELY_MUTABLE_ANTICHAIN_H_

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/timely/antichain.h"
#include "common/timely/change_batch.h"
#include "common/timely/timestamp.h"

namespace weir {

// The least times that may still come.
using Frontier = Antichain<Timestamp>;

class MutableAntichain {
 public:
  struct Entry {
    Timestamp time;
    int64_t count = 0;
    absl::Time since;  // when the count became positive last
  };

  // Adds `delta` to the count of a time. Adds to `changes` what turns the old frontier into the new
  // one: 1 for a new element, -1 for one that is gone. `now` is for Entry::since alone.
  void Update(const Timestamp& time, int64_t delta, ChangeBatch<Timestamp>* changes,
              absl::Time now = absl::UnixEpoch());

  const Frontier& frontier() const { return frontier_; }
  // In the total order; no count is zero.
  absl::Span<const Entry> counts() const { return counts_; }
  int64_t count(const Timestamp& time) const;
  // How many times have a negative count.
  int negative() const { return negative_; }

 private:
  void Raise(const Timestamp& time, ChangeBatch<Timestamp>* changes);
  void Lower(const Timestamp& time, ChangeBatch<Timestamp>* changes);

  std::vector<Entry> counts_;
  Frontier frontier_;
  int negative_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_MUTABLE_ANTICHAIN_H_
