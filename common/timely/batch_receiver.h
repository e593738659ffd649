// The coordinator's end of one worker's stream of batches: takes each batch once, in order, and
// only if the worker was allowed to do what it says. One per worker and job; thread-compatible.
//
// After Accept the caller applies the changes to the tracker of the job. An error ends the worker's
// part in the job, as what it holds is not known any more.
#ifndef WEIR_COMMON_TIMELY_BATCH_RECEIVER_H_
#define WEIR_COMMON_TIMELY_BATCH_RECEIVER_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/timely/capability_ledger.h"

namespace weir {

class BatchReceiver {
 public:
  // `reachability` must outlive the receiver.
  explicit BatchReceiver(Reachability* reachability) : ledger_(reachability) {}

  // Gives the worker something to hold before its first batch.
  void Grant(const Pointstamp& pointstamp, int64_t count, absl::Time now = absl::UnixEpoch()) {
    ledger_.Grant(pointstamp, count, now);
  }

  // Errors, after which nothing has changed: AlreadyExists, a batch that was taken already (a
  // worker that connected again may send it); DataLoss, a batch before this one is missing, as it
  // was lost or overtaken; InvalidArgument, the changes are not allowed (CapabilityLedger::Apply).
  // `now` says since when something is held and decides nothing.
  absl::Status Accept(const ProgressBatch& batch, absl::Time now = absl::UnixEpoch());

  // The number of the batch that is due.
  int64_t next() const { return next_; }
  // What the worker holds as far as was heard; what is lost with it.
  std::vector<Change> held() const { return ledger_.held(); }
  const MutableAntichain* HeldAt(LocationId location) const { return ledger_.HeldAt(location); }

 private:
  CapabilityLedger ledger_;
  int64_t next_ = 1;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_BATCH_RECEIVER_H_
