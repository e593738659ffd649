#include "common/timely/capability_ledger.h"

#include <algorithm>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// More of one kind at once is a defect of the sender, and sums stay far from overflow.
constexpr int64_t kMostAtOnce = int64_t{1} << 32;

bool IsBefore(const Change& change, const Pointstamp& pointstamp) {
  return change.key < pointstamp;
}

}  // namespace

void CapabilityLedger::Grant(const Pointstamp& pointstamp, int64_t count) {
  Add({pointstamp, count});
}

absl::Status CapabilityLedger::Apply(absl::Span<const Change> changes) {
  WEIR_RETURN_IF_ERROR(CheckForm(changes));
  WEIR_RETURN_IF_ERROR(CheckReleased(changes));
  WEIR_RETURN_IF_ERROR(CheckJustified(changes));
  for (const Change& change : changes) {
    if (IsHeldAt(change.key.location)) Add(change);
  }
  return absl::OkStatus();
}

absl::Status CapabilityLedger::CheckForm(absl::Span<const Change> changes) const {
  const Topology& topology = reachability_.topology();
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto& [pointstamp, delta] = changes[i];
    WEIR_RETURN_IF_ERROR(topology.CheckPointstamp(pointstamp.location, pointstamp.time));
    if (delta == 0 || delta > kMostAtOnce || delta < -kMostAtOnce) {
      return InvalidArgument("a count changes by ", delta, ": ", ToString(changes[i], topology));
    }
    if (i > 0 && !(changes[i - 1].key < pointstamp)) {
      return InvalidArgument(
          "changes are not sorted and merged: ", ToString(changes[i - 1], topology), " before ",
          ToString(changes[i], topology));
    }
  }
  return absl::OkStatus();
}

absl::Status CapabilityLedger::CheckReleased(absl::Span<const Change> changes) const {
  for (const Change& change : changes) {
    if (change.delta > 0 || !IsHeldAt(change.key.location)) continue;
    const int64_t held = Held(change.key);
    if (held + change.delta < 0) {
      return InvalidArgument(ToString(change, reachability_.topology()), " is released, and ", held,
                             " held");
    }
  }
  return absl::OkStatus();
}

absl::Status CapabilityLedger::CheckJustified(absl::Span<const Change> changes) const {
  for (const Change& change : changes) {
    if (change.delta < 0 || IsJustified(change.key, changes)) continue;
    return InvalidArgument(ToString(change, reachability_.topology()),
                           ": nothing that is held or consumed could result in it");
  }
  return absl::OkStatus();
}

bool CapabilityLedger::IsJustified(const Pointstamp& pointstamp,
                                   absl::Span<const Change> changes) const {
  for (const Change& change : changes) {
    if (change.delta < 0 && reachability_.CouldResultIn(change.key, pointstamp)) return true;
  }
  for (const Change& held : held_) {
    if (reachability_.CouldResultIn(held.key, pointstamp)) return true;
  }
  return false;
}

bool CapabilityLedger::IsHeldAt(LocationId location) const {
  return reachability_.topology().location(location).kind != PortLocation::Kind::kInput;
}

int64_t CapabilityLedger::Held(const Pointstamp& pointstamp) const {
  const auto at = std::lower_bound(held_.begin(), held_.end(), pointstamp, IsBefore);
  return at != held_.end() && at->key == pointstamp ? at->delta : 0;
}

void CapabilityLedger::Add(const Change& change) {
  const auto at = std::lower_bound(held_.begin(), held_.end(), change.key, IsBefore);
  if (at == held_.end() || !(at->key == change.key)) {
    held_.insert(at, change);
  } else if ((at->delta += change.delta) == 0) {
    held_.erase(at);
  }
}

std::string ToString(const Change& change, const Topology& topology) {
  return StrCat(change.delta > 0 ? "+" : "", change.delta, " ", ToString(change.key.time), " at ",
                topology.Describe(change.key.location));
}

}  // namespace weir
