// A worker's end of its stream of batches: checks each activation, sums what activations changed,
// and says when a batch is due. One per worker and job; thread-compatible. Time comes from the
// caller, so it is drivable by hand.
//
// A batch is due when a removal touches the last frontier received (others may wait for it), after
// `delay` at the latest, and whenever the worker has nothing else to do: the caller flushes before
// it waits, or nobody might ever learn of what is done.
//
//   WEIR_RETURN_IF_ERROR(sender.Report(changes_of_activation, clock->Now()));
//   if (idle || sender.IsDue(clock->Now(), view)) {
//     if (std::optional<ProgressBatch> batch = sender.Flush()) link->Send(*batch);
//   }
#ifndef WEIR_COMMON_TIMELY_BATCH_SENDER_H_
#define WEIR_COMMON_TIMELY_BATCH_SENDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/timely/capability_ledger.h"
#include "common/timely/frontier_view.h"

namespace weir {

class BatchSender {
 public:
  // `reachability` must outlive the sender. `delay` is how long a change waits at most.
  explicit BatchSender(Reachability* reachability, absl::Duration delay = absl::Milliseconds(1))
      : ledger_(reachability), delay_(delay) {}

  // What the coordinator granted.
  void Grant(const Pointstamp& pointstamp, int64_t count) { ledger_.Grant(pointstamp, count); }

  // All that one activation did: consumed, produced, held, released; in any order. Errors:
  // InvalidArgument, and nothing is noted, if it was not allowed (CapabilityLedger::Apply): what it
  // produced must not be sent.
  absl::Status Report(std::vector<Change> activation, absl::Time now);

  // Returns: whether to flush although there is other work to do. Looks only at what is new since
  // the last call, unless the view has changed.
  bool IsDue(absl::Time now, const FrontierView& view);
  // Returns: when a batch is due at the latest; the infinite future if nothing is noted.
  absl::Time deadline() const { return deadline_; }
  // Returns: all that was noted since the last one; nothing if it cancels out.
  std::optional<ProgressBatch> Flush();

  std::vector<Change> held() const { return ledger_.held(); }

 private:
  bool TouchesFrontier(const FrontierView& view);

  CapabilityLedger ledger_;
  const absl::Duration delay_;
  ChangeBatch<Pointstamp> noted_;
  std::vector<Pointstamp> removed_;  // since IsDue last looked
  int64_t seen_ = 0;                 // the version of the view that it looked at
  bool touches_frontier_ = false;    // it found one that does
  absl::Time deadline_ = absl::InfiniteFuture();
  int64_t next_ = 1;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_BATCH_SENDER_H_
