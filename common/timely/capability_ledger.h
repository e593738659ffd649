// What one worker holds (capabilities at outputs, requests), and whether what it says it did was
// allowed. Kept twice: by the worker, which checks each activation before it counts, and by the
// coordinator, which checks each batch. Thread-compatible.
//
// A count may rise only where something of the worker could result in it (the "justified" updates
// of the verified exchange protocol: Brun, Decova, Lattuada, Traytel 2021): something that it
// holds, or that it consumes or releases with the same changes. Activations that are merged stay
// justified, as every cycle advances times. Which frames a worker may consume is not known here; a
// tracker notices when more are consumed than were produced (Tracker::CheckCounts).
//
// A cause is looked for from the rise backwards (reachability.h), and of what is held at one place
// only the least times are compared, as they result in all that later ones do: a batch costs what
// was done, however much is held at however many places.
#ifndef WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_
#define WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/timely/mutable_antichain.h"
#include "common/timely/pointstamp.h"
#include "common/timely/reachability.h"

namespace weir {

class CapabilityLedger {
 public:
  // `reachability` must outlive the ledger.
  explicit CapabilityLedger(Reachability* reachability) : reachability_(*reachability) {}

  // Gives the worker something to hold, as at the start of a job. REQUIRES: no input; count > 0.
  void Grant(const Pointstamp& pointstamp, int64_t count, absl::Time now = absl::UnixEpoch());

  // Takes changes as one. Errors: InvalidArgument, and nothing is taken: changes that are not
  // sorted, merged and of existing places; something released that is not held; something produced
  // or held without a reason. `now` says since when something is held and decides nothing.
  absl::Status Apply(absl::Span<const Change> changes, absl::Time now = absl::UnixEpoch());

  // Returns: all that is held, sorted; all counts are positive.
  std::vector<Change> held() const;
  // Returns: what is held at one place, and since when; null if nothing is.
  const MutableAntichain* HeldAt(LocationId location) const;

 private:
  absl::Status CheckForm(absl::Span<const Change> changes) const;
  absl::Status CheckReleased(absl::Span<const Change> changes) const;
  absl::Status CheckJustified(absl::Span<const Change> changes);
  bool MayBeHeldAt(LocationId location) const;
  void Add(const Change& change, absl::Time now);
  // Places where nothing is held any more are kept for the next time, but not many.
  void ForgetEmptyPlaces();

  Reachability& reachability_;
  absl::btree_map<LocationId, MutableAntichain> places_;
  size_t in_use_ = 0;             // places where something is held
  ChangeBatch<Timestamp> moves_;  // of a frontier; nobody asks
};

// Returns: "+2 (3, 1) at input 0 of 'join'".
std::string ToString(const Change& change, const Topology& topology);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_CAPABILITY_LEDGER_H_
