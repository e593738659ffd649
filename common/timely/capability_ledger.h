// What one worker holds (capabilities at outputs, requests), and whether what it says it did was
// allowed. Kept twice: by the worker, which checks each activation before it counts, and by the
// coordinator, which checks each batch. Thread-compatible.
//
// A count may rise only where something of the worker could result in it (the "justified" updates
// of the verified exchange protocol: Brun, Decova, Lattuada, Traytel 2021): something that it
// holds, or that it consumes or releases with the same changes. Activations that are merged stay
// justified, as every cycle advances times. Which frames a worker may consume is not known here; a
// tracker notices when more are consumed than were produced (Tracker::CheckCounts).
#ifndef WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_
#define WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/timely/pointstamp.h"
#include "common/timely/reachability.h"

namespace weir {

class CapabilityLedger {
 public:
  // `reachability` must outlive the ledger.
  explicit CapabilityLedger(Reachability* reachability) : reachability_(*reachability) {}

  // Gives the worker something to hold, as at the start of a job. REQUIRES: no input; count > 0.
  void Grant(const Pointstamp& pointstamp, int64_t count);

  // Takes changes as one. Errors: InvalidArgument, and nothing is taken: changes that are not
  // sorted, merged and of existing places; something released that is not held; something produced
  // or held without a reason.
  absl::Status Apply(absl::Span<const Change> changes);

  // Sorted; all counts are positive.
  absl::Span<const Change> held() const { return held_; }

 private:
  absl::Status CheckForm(absl::Span<const Change> changes) const;
  absl::Status CheckReleased(absl::Span<const Change> changes) const;
  absl::Status CheckJustified(absl::Span<const Change> changes) const;
  bool IsJustified(const Pointstamp& pointstamp, absl::Span<const Change> changes) const;
  bool IsHeldAt(LocationId location) const;
  int64_t Held(const Pointstamp& pointstamp) const;
  void Add(const Change& change);

  Reachability& reachability_;
  std::vector<Change> held_;
};

// Returns: "+2 (3, 1) at input 0 of 'join'".
std::string ToString(const Change& change, const Topology& topology);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_
